//! How runs go: side by side, with patience, with skips, and to an early end.

mod support;

use std::time::{Duration, Instant};

use hatir_pipeline::{BuildError, BuildOptions, Cancel, Ending, GRACE, RunOptions, Runner, Status, Value};
use indexmap::IndexMap;
use serde_json::json;
use support::{build, build_error, no_inputs, plan, run, stage, with_cancel};

/// Sleeping stages show what runs side by side whatever the machine does: two in a row take at least the sum.
#[tokio::test]
async fn stages_without_an_edge_run_side_by_side() {
    let text = r#"
        version = 1
        [pipeline]
        output = "end"
        [stage.left]
        use = "test.probe"
        with.deaf-ms = 300
        [stage.right]
        use = "test.probe"
        with.deaf-ms = 300
        [stage.end]
        use = "test.probe"
        in.need = ["left", "right"]
    "#;
    let report = run(text).await;
    assert_eq!(report.ending, Ending::Completed);
    let (left, right) = (stage(&report, "left"), stage(&report, "right"));
    assert!(left.started < right.started + right.elapsed && right.started < left.started + left.elapsed, "{report:#?}");
    assert_eq!(report.output.unwrap().to_json(), json!(["end", [["left", []], ["right", []]]]));

    let one_at_a_time = text.replace("output = \"end\"", "output = \"end\"\nmax-parallel = 1");
    let report = run(&one_at_a_time).await;
    let (left, right) = (stage(&report, "left"), stage(&report, "right"));
    assert!(right.started >= left.started + left.elapsed || left.started >= right.started + right.elapsed);
}

#[tokio::test]
async fn a_stage_whose_time_is_up_is_abandoned() {
    let text = r#"
        version = 1
        [pipeline]
        output = "slow"
        [stage.slow]
        use = "test.probe"
        with.deaf-ms = 2000
        timeout = "20ms"
    "#;
    let begun = Instant::now();
    let report = run(text).await;
    assert!(begun.elapsed() < Duration::from_millis(1500), "the stage was joined");
    assert_eq!(report.ending, Ending::Failed(0));
    let slow = report.failure().unwrap();
    assert_eq!(slow.status, Status::TimedOut);
    assert_eq!(slow.error.as_ref().unwrap().message, "it took longer than 20ms");
    assert!(report.output.is_none());
}

#[tokio::test]
async fn a_timeout_with_skip_lets_the_run_go_on() {
    let text = r#"
        version = 1
        [pipeline]
        output = "end"
        [stage.slow]
        use = "test.probe"
        with.work-ms = 60000
        timeout = "20ms"
        on-error = "skip"
        [stage.quick]
        use = "test.probe"
        [stage.end]
        use = "test.needy"
        in.need = ["slow", "quick"]
    "#;
    let report = run(text).await;
    assert_eq!(report.ending, Ending::Completed);
    assert_eq!(stage(&report, "slow").status, Status::Skipped);
    assert!(stage(&report, "slow").reason.as_ref().unwrap().contains("timed out"));
    assert_eq!(report.output.unwrap().to_json(), json!(["end", [["quick", []]]]));
}

#[tokio::test]
async fn a_failing_stage_is_tried_again_and_a_permanent_error_is_not() {
    let text = r#"
        version = 1
        [pipeline]
        output = "shaky"
        [stage.shaky]
        use = "test.probe"
        with.fail = 2
        retries = { count = 2, pause = "1ms" }
    "#;
    let report = run(text).await;
    assert_eq!(report.ending, Ending::Completed, "{report:#?}");
    assert_eq!(stage(&report, "shaky").attempts, 3);

    let report = run(&text.replace("with.fail = 2", "with.fail = 3")).await;
    assert_eq!(report.failure().unwrap().error.as_ref().unwrap().message, "asked to fail, try 3");

    let report = run(&text.replace("with.fail = 2", "with.fail = 2\nwith.permanent = true")).await;
    assert_eq!(report.failure().unwrap().attempts, 1);
}

#[tokio::test]
async fn skips_travel_along_the_ports_that_need_them() {
    let text = r#"
        version = 1
        [pipeline]
        output = { needy = "needy", after = "after", open = "open", both = "both" }
        [stage.broken]
        use = "test.probe"
        with.fail = 1
        on-error = "skip"
        [stage.whole]
        use = "test.probe"
        [stage.needy]
        use = "test.needy"
        in.need = "broken"
        [stage.after]
        use = "test.needy"
        in.need = "needy"
        [stage.open]
        use = "test.probe"
        in.one = "broken"
        [stage.both]
        use = "test.needy"
        in.need = ["broken", "whole"]
    "#;
    let report = run(text).await;
    assert_eq!(report.ending, Ending::Completed);
    let expected = json!({ "needy": null, "after": null, "open": ["open", []], "both": ["both", [["whole", []]]] });
    assert_eq!(report.output.as_ref().unwrap().to_json(), expected);
    let reason = stage(&report, "after").reason.clone().unwrap();
    assert_eq!(reason, "it needs \"needy\" on its port \"need\", and there is nothing");
}

#[tokio::test]
async fn conditions_decide_whether_a_stage_runs() {
    let text = r#"
        version = 1
        [pipeline]
        input = { n = "number?", list = "json?" }
        output = { present = "present", empty = "empty", not-empty = "not-empty", equals = "equals", greater = "greater" }
        [stage.present]
        use = "test.probe"
        when = { input = "$input.n", is = "present" }
        [stage.empty]
        use = "test.probe"
        when = { input = "$input.list", is = "empty" }
        [stage.not-empty]
        use = "test.probe"
        when = { input = "$input.list", is = "not-empty" }
        [stage.equals]
        use = "test.probe"
        when = { input = "$input.n", equals = 3 }
        [stage.greater]
        use = "test.probe"
        when = { input = "$input.list", greater = 1 }
    "#;
    let runner = build(text);
    for (inputs, expected) in [
        (vec![], ["empty"].as_slice()),
        (vec![("n", Value::Number(3.0))], &["present", "empty", "equals"]),
        (vec![("n", Value::Number(4.0)), ("list", Value::json(json!([1])))], &["present", "not-empty"]),
        (vec![("list", Value::json(json!([1, 2])))], &["not-empty", "greater"]),
    ] {
        let inputs: IndexMap<String, Value> =
            inputs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let report = runner.run(&inputs, &RunOptions::default()).await;
        let ran: Vec<&str> =
            report.stages.iter().filter(|stage| stage.status == Status::Done).map(|stage| &*stage.stage).collect();
        assert_eq!(ran, expected, "{inputs:?}");
    }
}

#[tokio::test]
async fn a_panic_is_caught_and_named() {
    for light in ["true", "false"] {
        let text = r#"
            version = 1
            [pipeline]
            output = "wild"
            [stage.wild]
            use = "test.probe"
            with.panic = true
            with.light = LIGHT
        "#;
        let report = run(&text.replace("LIGHT", light)).await;
        let wild = report.failure().unwrap();
        assert_eq!(wild.status, Status::Panicked);
        assert_eq!(&*wild.stage, "wild");
        assert_eq!(wild.error.as_ref().unwrap().message, "it panicked: asked to panic");
    }
}

#[tokio::test]
async fn a_stage_that_returns_another_type_than_it_declared_is_told_off() {
    let report =
        run("version = 1\n[pipeline]\noutput = \"liar\"\n[stage.liar]\nuse = \"test.probe\"\nwith.lie = true").await;
    let message = &report.failure().unwrap().error.as_ref().unwrap().message;
    assert_eq!(message, "it returned a value of type text, but its kind declares json");
}

#[test]
fn all_stages_that_cannot_be_built_are_reported() {
    let text = r#"
        version = 1
        [pipeline]
        output = ["a", "b", "c"]
        [stage.a]
        use = "test.probe"
        with.fail-in-build = true
        [stage.b]
        use = "test.probe"
        [stage.c]
        use = "test.probe"
        with.panic-in-build = true
    "#;
    let BuildError::Stages(failures) = build_error(text) else { panic!("expected the stages") };
    let told: Vec<_> =
        failures.iter().map(|failure| (failure.stage.as_str(), failure.error.message.as_str())).collect();
    assert_eq!(told, [("a", "asked to fail in build"), ("c", "it panicked: asked to panic in build")]);
}

#[tokio::test]
async fn an_interrupted_run_ends_at_once_and_says_what_did_not_run() {
    let text = r#"
        version = 1
        [pipeline]
        output = "after"
        [stage.deaf]
        use = "test.probe"
        with.deaf-ms = 3000
        [stage.listening]
        use = "test.probe"
        with.work-ms = 60000
        [stage.after]
        use = "test.probe"
        in.need = ["deaf", "listening"]
    "#;
    let cancel = Cancel::new();
    let runner = build(text);
    let soon = cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        soon.cancel();
    });
    let begun = Instant::now();
    let report = runner.run(&no_inputs(), &with_cancel(&cancel)).await;
    assert!(begun.elapsed() < Duration::from_secs(2), "the deaf stage was joined");
    assert_eq!(report.ending, Ending::Interrupted);
    assert!(report.stages.iter().all(|stage| stage.status == Status::Interrupted), "{report:#?}");
    assert!(report.output.is_none());
    assert!(GRACE < Duration::from_millis(200));
}

#[tokio::test]
async fn a_failure_stops_what_runs_beside_it() {
    let text = r#"
        version = 1
        [pipeline]
        output = ["long", "broken"]
        [stage.long]
        use = "test.probe"
        with.work-ms = 60000
        [stage.broken]
        use = "test.probe"
        with.fail = 1
    "#;
    let report = run(text).await;
    assert_eq!(&*report.failure().unwrap().stage, "broken");
    assert_eq!(stage(&report, "long").status, Status::Interrupted);
}

#[tokio::test]
async fn until_runs_a_stage_and_what_it_needs() {
    let text = r#"
        version = 1
        [pipeline]
        output = "c"
        [stage.a]
        use = "test.probe"
        [stage.b]
        use = "test.probe"
        in.need = "a"
        [stage.c]
        use = "test.probe"
        in.need = "b"
        [stage.writer]
        use = "test.probe"
        in.need = "b"
        with.effects = true
    "#;
    let options = BuildOptions { until: Some("b".into()), ..BuildOptions::default() };
    let report = Runner::build(plan(text), &options).unwrap().run(&no_inputs(), &RunOptions::default()).await;
    assert_eq!(report.output.as_ref().unwrap().to_json(), json!(["b", [["a", []]]]));
    assert_eq!(stage(&report, "writer").status, Status::NotNeeded);

    let wrong = BuildOptions { until: Some("z".into()), ..BuildOptions::default() };
    let error = Runner::build(plan(text), &wrong).err().unwrap().to_string();
    assert_eq!(error, "there is no stage \"z\"; the stages are a, b, c, writer");

    let dry = BuildOptions { dry_run: true, ..BuildOptions::default() };
    let report = Runner::build(plan(text), &dry).unwrap().run(&no_inputs(), &RunOptions::default()).await;
    assert_eq!(stage(&report, "writer").status, Status::Pretended);
    assert_eq!(report.ending, Ending::Completed);
}

/// What no input reaches is worked out once, however many runs share the runner, also at the same time.
#[tokio::test(flavor = "multi_thread")]
async fn constant_stages_run_once() {
    let text = r#"
        version = 1
        [pipeline]
        input = { x = "json" }
        output = "end"
        [stage.once]
        use = "test.probe"
        with.deaf-ms = 30
        with.fail = 0
        [stage.end]
        use = "test.probe"
        in.need = ["once", "$input.x"]
    "#;
    let runner = std::sync::Arc::new(build(text));
    let runs: Vec<_> = (0..20)
        .map(|at| {
            let runner = runner.clone();
            tokio::spawn(async move {
                let inputs = IndexMap::from([("x".to_owned(), Value::Number(f64::from(at)))]);
                runner.run(&inputs, &RunOptions::default()).await
            })
        })
        .collect();
    for (at, run) in runs.into_iter().enumerate() {
        let report = run.await.unwrap();
        assert_eq!(report.output.as_ref().unwrap().to_json(), json!(["end", [["once", []], at]]));
        assert!(stage(&report, "once").shared && !stage(&report, "end").shared);
    }
    // A failure of the first try would have been kept, had the stage run twice it would now succeed.
    let failing = build(&text.replace("with.fail = 0", "with.fail = 1"));
    let inputs = IndexMap::from([("x".to_owned(), Value::Number(0.0))]);
    for _ in 0..2 {
        let report = failing.run(&inputs, &RunOptions::default()).await;
        assert_eq!(report.failure().unwrap().error.as_ref().unwrap().message, "asked to fail, try 1");
    }
}

#[test]
fn inputs_that_are_wrong_are_all_told() {
    let runner = build(
        "version = 1\n[pipeline]\ninput = { text = \"text\", turns = \"conversation\", extra = \"number?\" }\noutput = \"a\"\n\
         [stage.a]\nuse = \"test.probe\"\nin.need = [\"$input.text\", \"$input.turns\", \"$input.extra\"]",
    );
    let given = IndexMap::from([("txet".to_owned(), json!("x")), ("turns".to_owned(), json!("y"))]);
    let problems = runner.read_inputs(given.clone(), false).unwrap_err();
    assert_eq!(
        problems,
        [
            "there is no input \"txet\", did you mean \"text\"?",
            "the input \"turns\" is not a value of type conversation: found a string, expected an array",
            "the input \"text\" (text) is missing",
        ]
    );
    assert_eq!(runner.read_inputs(given, true).unwrap_err().len(), 2, "records may carry more");
}

/// Equality of whole numbers is exact, also where floats no longer tell neighbours apart.
#[tokio::test]
async fn expectations_that_are_wrong_do_not_pass() {
    let text = r#"
        version = 1
        [pipeline]
        input = { x = "json" }
        output = "end"
        [stage.end]
        use = "test.probe"
        in.need = "$input.x"
        [stage.broken]
        use = "test.probe"
        with.fail = 1
        in.need = "end"
        [[test]]
        name = "a large neighbour"
        input.x = 0
        stub.end = 9007199254740993
        stub.broken = 0
        expect.end = 9007199254740992
        [[test]]
        name = "a fraction is no count"
        input.x = 0
        stub.end = 3.9
        stub.broken = 0
        expect.end.count = 3
        [[test]]
        name = "a path that leads nowhere is not empty"
        input.x = 0
        stub.end = { items = [1] }
        stub.broken = 0
        expect.end.itmes.empty = true
        [[test]]
        name = "not skipped is not the same as fine"
        input.x = 0
        expect.broken.skipped = false
    "#;
    let plan = plan(&text.replace("output = \"end\"", "output = [\"end\", \"broken\"]"));
    assert_eq!(plan.tests().len(), 4);
    for test in plan.tests() {
        let report = hatir_pipeline::run_test(&plan, test, &RunOptions::default()).await;
        assert!(!report.passed(), "{} passed", report.name);
    }
}
