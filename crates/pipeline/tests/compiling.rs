//! From a text to a plan, or to everything that is wrong with it.

mod kinds;

use hatir_pipeline::{
    Check, Code, ConditionTest, Environment, Feed, OnError, Options, Output, Registry, Source, Type, compile,
};
use kinds::{compile_with, known, plan, problems, report, rich};
use serde_json::json;

/// Codes and the texts that they point at.
#[track_caller]
fn check(text: &str, expected: &[(Code, &str)]) {
    let report = report(text);
    assert_eq!(problems(&report), expected, "{}\n{text}", report.render(false));
}

#[track_caller]
fn check_rich(lines: &str, expected: &[(Code, &str)]) {
    check(&rich(lines), expected);
}

/// The message of the only problem.
#[track_caller]
fn message(text: &str) -> String {
    let report = report(text);
    assert_eq!(report.problems().len(), 1, "{}", report.render(false));
    report.problems()[0].headline()
}

const ALL: &str = r#"
version = 1
[pipeline]
about = "All of it."
input = { question = "text", things = "items?" }
output = { found = "found", question = "$input.question" }
max-parallel = 4

[stage.last]
use = "test.step"
in.text = "first"
in.extra = ["found", "$input.things"]
when = { input = "found", greater = 2 }

[stage.found]
use = "test.find"
in.query = "first"
timeout = "1.5s"
retries = { count = 3, pause = "50ms", longest = "1s" }
on-error = "skip"

[stage.first]
about = "The first one."
use = "test.step"
in.text = "$input.question"
retries = 2

[stage.fixed]
use = "test.text"
with.text = "a"

[stage.fixed-too]
use = "test.step"
in.text = "fixed"

[stage.write]
use = "test.write"
in.text = "fixed-too"

[stage.after-write]
use = "test.join"
in.anything = "fixed"
when = { input = "write", is = "present" }
"#;

#[test]
fn a_plan_says_what_the_file_says() {
    let plan = plan(ALL);
    assert_eq!((plan.name(), plan.about(), plan.max_parallel()), ("test", Some("All of it."), 4));
    assert_eq!(plan.inputs()["things"], hatir_pipeline::InputSpec { kind: Type::Items, optional: true });
    let order: Vec<&str> = plan.order().iter().map(|at| plan.stages()[*at].name()).collect();
    assert_eq!(order, ["first", "found", "last", "fixed", "fixed-too", "write", "after-write"]);
    let Output::Many(output) = plan.output() else { panic!("{:?}", plan.output()) };
    assert_eq!(output["question"], Feed::Input("question".into()));

    let (first, stage) = plan.find("first").unwrap();
    assert_eq!((stage.about(), stage.retries().count), (Some("The first one."), 2));
    let (_, last) = plan.find("last").unwrap();
    assert_eq!(last.bindings()[0].feeds, [Feed::Stage(first)]);
    assert!(last.bindings()[1].many && !last.bindings()[1].required && last.bindings()[1].accepts == Type::Items);
    assert_eq!(last.when().unwrap().test, ConditionTest::Greater(2.0));
    let (_, found) = plan.find("found").unwrap();
    assert_eq!((found.timeout().unwrap().as_millis(), found.on_error()), (1500, OnError::Skip));
    assert_eq!((found.retries().count, found.retries().longest.as_secs()), (3, 1));
    assert_eq!(plan.position(found.span()), (15, 8));
}

#[test]
fn constant_and_used_are_worked_out() {
    let plan = plan(ALL);
    let names = |keep: fn(&hatir_pipeline::PlannedStage) -> bool| -> Vec<&str> {
        plan.stages().iter().filter(|stage| keep(stage)).map(hatir_pipeline::PlannedStage::name).collect()
    };
    assert_eq!(names(hatir_pipeline::PlannedStage::is_constant), ["fixed", "fixed-too"]);
    assert_eq!(names(|stage| !stage.is_used()), ["last", "after-write"]);
    let report = report(ALL);
    assert_eq!(problems(&report), [(Code::UNUSED_STAGE, "last"), (Code::UNUSED_STAGE, "after-write")]);
}

#[test]
fn the_example_of_the_design_compiles() {
    let text = include_str!("design.toml");
    let compiled = compile(Source::new("design.toml", text), &Registry::standard(), &Options::default());
    let report = &compiled.report;
    // Its test leaves the conversation out, which is worth a warning and no more.
    let codes: Vec<Code> = report.problems().iter().map(|problem| problem.code).collect();
    assert_eq!(codes, [Code::TEST_LACKS_INPUT], "{}", report.render(false));
    let plan = compiled.plan.unwrap();
    let (_, found) = plan.find("found").unwrap();
    assert_eq!(found.with()["dir"], "./index");
    assert_eq!(plan.tests()[0].stub["known"], json!([]));
    assert_eq!(plan.tests()[0].expect[0].check, Check::Contains(vec!["refund".into()]));
}

#[test]
fn keys_below_with_are_checked_against_the_kind() {
    check_rich("with.limit = 5\nwith.mode = \"very-fast\"\nwith.patience = \"2m\"\nwith.path = \"a\"", &[]);
    check_rich(
        "with.one-or-many = \"a\"\nwith.way = \"left\"\nwith.nested = { depth = -5, inner = { depth = 1 } }",
        &[],
    );
    check_rich(
        "with.one-or-many = [\"a\"]\nwith.way = { round = { times = 2 } }\nwith.weights = { a = 1, b = 0.5 }",
        &[],
    );
    check_rich(
        "with.more = 255\nwith.share = 1\nwith.names = [\"a\"]\nwith.other-mode = \"slow\"\nwith.fast = true",
        &[],
    );

    check_rich("with.limit = 0", &[(Code::OUT_OF_RANGE, "0")]);
    check_rich("with.limit = 0x65", &[(Code::OUT_OF_RANGE, "0x65")]);
    check_rich("with.limit = \"5\"", &[(Code::WRONG_TYPE, "\"5\"")]);
    check_rich("with.limit = 5.0", &[(Code::WRONG_TYPE, "5.0")]);
    check_rich("with.limit = 99999999999999999999", &[(Code::OUT_OF_RANGE, "99999999999999999999")]);
    check_rich("with.more = 256", &[(Code::OUT_OF_RANGE, "256")]);
    check_rich("with.more = true", &[(Code::WRONG_TYPE, "true")]);
    check_rich("with.share = 1.01", &[(Code::OUT_OF_RANGE, "1.01")]);
    check_rich("with.share = nan", &[(Code::OUT_OF_RANGE, "nan")]);
    check_rich("with.fast = \"true\"", &[(Code::WRONG_TYPE, "\"true\"")]);
    check_rich("with.mode = \"fast\"", &[(Code::WRONG_CHOICE, "\"fast\"")]);
    check_rich("with.mode = 1", &[(Code::WRONG_TYPE, "1")]);
    check_rich("with.other-mode = \"slwo\"", &[(Code::WRONG_CHOICE, "\"slwo\"")]);
    check_rich("with.patience = \"300\"", &[(Code::WRONG_DURATION, "\"300\"")]);
    check_rich("with.patience = 300", &[(Code::WRONG_DURATION, "300")]);
    check_rich("with.patience = \"-1s\"", &[(Code::WRONG_DURATION, "\"-1s\"")]);
    check_rich("with.path = \"\"", &[(Code::OUT_OF_RANGE, "\"\"")]);
    check_rich("with.names = []", &[(Code::OUT_OF_RANGE, "[]")]);
    check_rich("with.names = [\"a\", 1, { b = 2 }]", &[(Code::WRONG_TYPE, "1"), (Code::WRONG_TYPE, "{ b = 2 }")]);
    check_rich("with.names = \"a\"", &[(Code::WRONG_TYPE, "\"a\"")]);
    check_rich("with.weights = { a = \"b\" }", &[(Code::WRONG_TYPE, "\"b\"")]);
    check_rich("with.nested = {}", &[(Code::MISSING_KEY, "nested")]);
    check_rich("with.nested = { depth = 128 }", &[(Code::OUT_OF_RANGE, "128")]);
    check_rich(
        "with.nested = { depth = 1, inner = { detph = 1 } }",
        &[(Code::MISSING_KEY, "inner"), (Code::UNKNOWN_KEY, "detph")],
    );
    check_rich("with.one-or-many = 5", &[(Code::WRONG_TYPE, "5")]);
    check_rich("with.one-or-many = [5]", &[(Code::WRONG_TYPE, "5")]);
    check_rich("with.way = \"lfet\"", &[(Code::WRONG_CHOICE, "\"lfet\"")]);
    check_rich("with.way = { round = { times = 0 } }", &[(Code::OUT_OF_RANGE, "0")]);
    check_rich("with.word = \"two words\"", &[(Code::REFUSED, "\"two words\"")]);
    check_rich("with.limti = 5", &[(Code::UNKNOWN_KEY, "limti")]);
    check_rich("with = 5", &[(Code::WRONG_TYPE, "5")]);
    check_rich("with = [1]", &[(Code::WRONG_TYPE, "[1]")]);
}

#[test]
fn messages_name_the_thing_and_the_nearest_name() {
    let unknown = message(&rich("with.limti = 5"));
    assert_eq!(unknown, "unknown key \"limti\" for the stage \"a\", did you mean \"limit\"?");
    let duration = message(&rich("timeout = \"300 sec\""));
    assert!(duration.ends_with("did you mean \"300s\"?"), "{duration}");
    let input = "version = 1\n[pipeline]\ninput = { text = \"text\" }\noutput = \"a\"\n[stage.a]\nuse = \"test.step\"\nin.text = ";
    assert!(message(&format!("{input}\"text\"")).ends_with("did you mean \"$input.text\"?"));
    let needs = message("version = 1\n[pipeline]\noutput = \"a\"\n[stage.a]\nuse = \"test.text\"\n");
    assert_eq!(needs, "the stage \"a\" needs the key `text`");
}

#[test]
fn the_outer_shape_is_checked() {
    check("", &[(Code::MISSING_VERSION, "")]);
    check("# only a comment\n", &[(Code::MISSING_VERSION, "")]);
    check("version = 1\n", &[(Code::MISSING_KEY, ""), (Code::NO_STAGES, "")]);
    check(&rich("[pipelin]\nx = 1"), &[(Code::UNKNOWN_KEY, "pipelin")]);
    check(&rich("timeout = \"0s\""), &[(Code::WRONG_DURATION, "\"0s\"")]);
    check(&rich("timeout = 5"), &[(Code::WRONG_DURATION, "5")]);
    check(&rich("timeout = \"${T}\""), &[(Code::MISPLACED_VARIABLE, "${T}")]);
    check(&rich("retries = 101"), &[(Code::OUT_OF_RANGE, "101")]);
    check(&rich("retries = -1"), &[(Code::OUT_OF_RANGE, "-1")]);
    check(&rich("retries = \"3\""), &[(Code::WRONG_TYPE, "\"3\"")]);
    check(&rich("retries = { pause = \"1s\" }"), &[(Code::MISSING_KEY, "{ pause = \"1s\" }")]);
    check(&rich("retries = { count = 1, pause = \"2s\", longest = \"1s\" }"), &[(Code::OUT_OF_RANGE, "\"1s\"")]);
    check(&rich("in = \"b\""), &[(Code::WRONG_TYPE, "\"b\"")]);
    check(&rich("when = { is = \"empty\" }"), &[(Code::MISSING_KEY, "when")]);
    check(&rich("when = { input = \"a\" }"), &[(Code::WRONG_CONDITION, "when")]);
    check(&rich("when = { input = \"b\", is = \"ful\" }"), &[(Code::WRONG_CHOICE, "\"ful\"")]);
    check(&rich("[[test]]\ninput = {}"), &[(Code::MISSING_KEY, "[[test]]")]);
    check(&rich("[test]\nname = \"a\""), &[(Code::WRONG_TYPE, "[test]")]);
    check(
        "version = 1\nstage = 5\n[pipeline]\noutput = \"a\"\n",
        &[(Code::WRONG_TYPE, "5"), (Code::UNKNOWN_STAGE, "\"a\"")],
    );
    check(
        "version = 1\n[pipeline]\noutput = 5\n[[stage]]\nuse = \"a\"\n",
        &[(Code::WRONG_TYPE, "5"), (Code::WRONG_TYPE, "[[stage]]")],
    );
    check(
        "version = 1\n[pipeline]\noutput = [\"a\", 5]\n[stage]\na = 5\n",
        &[(Code::WRONG_TYPE, "5"), (Code::WRONG_TYPE, "5")],
    );
}

#[test]
fn syntax_errors_do_not_hide_other_errors_and_cause_no_noise() {
    let text = "version = \n[pipeline]\noutput = \"a\"\n[stage.a]\nuse = \"test.rihc\"\nin.x = b\nwith.path = \"open\n";
    let report = report(text);
    let codes: Vec<Code> = report.problems().iter().map(|problem| problem.code).collect();
    assert_eq!(codes, [Code::SYNTAX, Code::UNKNOWN_KIND, Code::SYNTAX, Code::SYNTAX], "{}", report.render(false));
}

#[test]
fn feeds_are_checked() {
    let file = |stages: &str| {
        format!("version = 1\n[pipeline]\ninput = {{ text = \"text\", flag = \"flag\" }}\noutput = \"a\"\n{stages}")
    };
    let step = |lines: &str| file(&format!("[stage.a]\nuse = \"test.step\"\n{lines}"));
    let find = |text: &str| -> Vec<Code> {
        let report = report(text);
        report.errors().map(|problem| problem.code).collect()
    };
    assert_eq!(find(&step("in.text = \"$input.text\"")), []);
    assert_eq!(find(&step("in.text = \"$input.txet\"")), [Code::UNKNOWN_INPUT]);
    assert_eq!(find(&step("in.text = \"$input\"")), [Code::UNKNOWN_STAGE]);
    assert_eq!(find(&step("in.text = []")), [Code::MISSING_INPUT]);
    assert_eq!(find(&step("")), [Code::MISSING_INPUT]);
    assert_eq!(find(&step("in.text = [\"$input.text\"]")), []);
    assert_eq!(find(&step("in.text = [\"$input.text\", \"$input.text\"]")), [Code::TOO_MANY_SOURCES]);
    assert_eq!(find(&step("in.text = \"$input.flag\"")), [Code::TYPE_MISMATCH]);
    assert_eq!(find(&step("in.text = \"$input.text\"\nin.more = \"$input.text\"")), [Code::UNKNOWN_PORT]);
    assert_eq!(find(&step("in.text = \"a\"")), [Code::LOOP]);
    assert_eq!(find(&step("in.text = \"$input.text\"\nwhen = { input = \"a\", is = \"empty\" }")), [Code::LOOP]);
    assert_eq!(
        find(&step("in.text = \"$input.text\"\nwhen = { input = \"$input.flag\", greater = 1 }")),
        [Code::WRONG_CONDITION]
    );
    assert_eq!(find(&step("in.text = \"$input.text\"\nwhen = { input = \"$input.flag\", equals = true }")), []);
    // An unknown kind is one problem, whatever hangs on it.
    let unknown =
        "[stage.b]\nuse = \"no\"\nin.whatever = \"$input.flag\"\n[stage.a]\nuse = \"test.step\"\nin.text = \"b\"";
    assert_eq!(find(&file(unknown)), [Code::UNKNOWN_KIND]);
    // So is a configuration that cannot be read.
    let unreadable = "[stage.b]\nuse = \"test.text\"\n[stage.a]\nuse = \"test.step\"\nin.text = \"b\"";
    assert_eq!(find(&file(unreadable)), [Code::MISSING_KEY]);
}

#[test]
fn variables_come_from_the_environment_that_is_passed_in() {
    let text = rich("with.path = \"${DIR}/x\"\nwith.word = \"${WORD:-none}\"").replace("env = []", "env = [\"DIR\"]");
    let with = |environment: Environment| {
        let compiled = compile_with(&text, &Options { environment, set: Vec::new() });
        compiled.plan.map(|plan| plan.stages()[0].with()).ok_or(compiled.report)
    };
    let open = with(Environment::Unknown).unwrap();
    assert_eq!((&open["path"], &open["word"]), (&json!("${DIR}/x"), &json!("none")));
    let full = with(known(&[("DIR", "/a\"b"), ("WORD", "${DIR}")])).unwrap();
    assert_eq!((&full["path"], &full["word"]), (&json!("/a\"b/x"), &json!("${DIR}")));
    assert_eq!(with(known(&[("DIR", ""), ("WORD", "")])).unwrap()["word"], json!("none"));
    assert_eq!(problems(&with(known(&[])).unwrap_err()), [(Code::UNSET_VARIABLE, "${DIR}")]);
    // What the environment says is checked like what the file says.
    assert_eq!(problems(&with(known(&[("DIR", "a"), ("WORD", "a b")])).unwrap_err())[0].0, Code::REFUSED);
}

#[test]
fn wrong_variables_point_into_the_text() {
    check_rich("with.path = \"\\u0061${DRI}\"", &[(Code::UNDECLARED_VARIABLE, "${DRI}")]);
    check_rich(
        "with.names = [\"a\", '${1A}', \"${A:-ok}${}\"]",
        &[(Code::WRONG_VARIABLE, "1A"), (Code::WRONG_VARIABLE, "${}")],
    );
    check_rich("with.path = \"$${A} $5 $\"", &[]);
    check_rich("in = { a = \"${A}\" }", &[(Code::UNKNOWN_PORT, "a"), (Code::MISPLACED_VARIABLE, "${A}")]);
}

#[test]
fn set_changes_the_tree_and_points_into_itself() {
    let set = |arguments: &[&str]| {
        let set = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let compiled = compile_with(&rich("with.limit = 5"), &Options { set, ..Options::default() });
        compiled.plan.map(|plan| plan.stages()[0].with()).ok_or(compiled.report)
    };
    assert_eq!(set(&["stage.a.with.limit=7"]).unwrap()["limit"], 7);
    assert_eq!(set(&["stage.a.with.limit = 7", "stage.a.with.limit=8"]).unwrap()["limit"], 8);
    assert_eq!(set(&["stage.a.with.path=some where"]).unwrap()["path"], "some where");
    assert_eq!(set(&["stage.a.with.path=\"q=uoted\""]).unwrap()["path"], "q=uoted");
    assert_eq!(set(&["stage.a.with={ limit = 9 }"]).unwrap()["limit"], 9);
    assert_eq!(set(&["stage.\"a\".with.weights.x=0.5"]).unwrap()["weights"]["x"], 0.5);
    assert_eq!(set(&["stage.a.with.names=[\"x\", \"y\"]"]).unwrap()["names"], json!(["x", "y"]));
    // A line break in a value starts no second key.
    assert_eq!(set(&["stage.a.with.word=a\nversion=2"]).unwrap()["word"], "a\nversion=2");
    let wrong = |argument: &str, code: Code, place: &str| {
        let report = set(&[argument]).unwrap_err();
        assert_eq!(problems(&report), [(code, place)], "{}", report.render(false));
        assert_eq!(report.name(report.problems()[0].place.as_ref().unwrap().span), Some("--set"));
    };
    wrong("stage.a.with.limit=many", Code::WRONG_TYPE, "many");
    wrong("stage.a.with.limit=0", Code::OUT_OF_RANGE, "0");
    wrong("stage.a.with.limti=1", Code::UNKNOWN_KEY, "limti");
    wrong("stage.b.with.limit=1", Code::SET_NOWHERE, "b");
    wrong("stage.a.use.x=1", Code::SET_NOWHERE, "x");
    wrong("stages.a=1", Code::UNKNOWN_KEY, "stages");
    wrong("no value", Code::WRONG_SET, "no value");
    wrong("=1", Code::WRONG_SET, "");
    wrong("a..b=1", Code::WRONG_SET, "a..b");
    wrong("stage.a.with.path=${X", Code::WRONG_VARIABLE, "${X");
    wrong("", Code::WRONG_SET, "");
}

#[test]
fn tests_are_read_and_checked() {
    let file = |test: &str| {
        format!(
            "{}\n[[test]]\nname = \"t\"\ninput.question = \"q\"\n{test}",
            ALL.replace("found = \"found\"", "found = \"found\", l = \"last\", w = \"after-write\"")
        )
    };
    let expectations = |test: &str| -> Vec<(String, Vec<String>, Check)> {
        let plan = plan(&file(test));
        let all = plan.tests()[0].expect.iter();
        all.map(|expected| (expected.stage.clone(), expected.path.clone(), expected.check.clone())).collect()
    };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    assert_eq!(expectations("expect.first = \"a\""), [("first".into(), vec![], Check::Equals(json!("a")))]);
    let test = "expect.found = { count = 2, hits.0.id = \"a\", hits.1 = { text.contains = \"b\" }, query.lacks = [\"c\"] }\n\
                expect.last.skipped = true\nexpect.first.fails = \"no\"\nexpect.write = { at-least = 1, at-most = 2.5, empty = false }";
    let expected = [
        ("found".into(), words(&[]), Check::Count(2)),
        ("found".into(), words(&["hits", "0", "id"]), Check::Equals(json!("a"))),
        ("found".into(), words(&["hits", "1", "text"]), Check::Contains(words(&["b"]))),
        ("found".into(), words(&["query"]), Check::Lacks(words(&["c"]))),
        ("last".into(), words(&[]), Check::Skipped(true)),
        ("first".into(), words(&[]), Check::Fails("no".into())),
        ("write".into(), words(&[]), Check::AtLeast(1.0)),
        ("write".into(), words(&[]), Check::AtMost(2.5)),
        ("write".into(), words(&[]), Check::Empty(false)),
    ];
    assert_eq!(expectations(test), expected);

    let wrong = |test: &str, expected: &[(Code, &str)]| {
        let text = file(test);
        let report = report(&text);
        assert_eq!(problems(&report), expected, "{}", report.render(false));
    };
    wrong("expect.frist = 1", &[(Code::UNKNOWN_STAGE, "frist")]);
    wrong("stub.frist = 1", &[(Code::UNKNOWN_STAGE, "frist")]);
    wrong("input.qestion = 1", &[(Code::UNKNOWN_INPUT, "qestion")]);
    wrong("stub.found = 1", &[(Code::WRONG_TEST_VALUE, "1")]);
    wrong("input.things = \"x\"", &[(Code::WRONG_TEST_VALUE, "\"x\"")]);
    wrong("expect.found.count = -1", &[(Code::OUT_OF_RANGE, "-1")]);
    wrong("expect.found.empty = 1", &[(Code::WRONG_TYPE, "1")]);
    wrong("expect.found.contains = [1]", &[(Code::WRONG_TYPE, "1")]);
    wrong("expect.found.hits = {}", &[(Code::EMPTY_EXPECTATION, "hits")]);
    wrong("expect.found.contian = \"a\"", &[(Code::SUSPICIOUS_STEP, "contian")]);
    wrong("expectt.found = 1", &[(Code::UNKNOWN_KEY, "expectt")]);
    // An expectation is shown from its key to its value.
    let plan = plan(&file("expect.first.contains = [\"a\"]"));
    assert_eq!(plan.texts().text(plan.tests()[0].expect[0].span), Some("contains = [\"a\"]"));
    assert!(plan.source_line(plan.tests()[0].expect[0].span).unwrap().starts_with("expect.first"));
}
