//! Whether the condition of a stage holds.

use serde_json::Value as Json;

use crate::plan::{Condition, ConditionTest};
use crate::value::Value;

pub(super) fn holds(condition: &Condition, value: Option<&Value>) -> bool {
    match &condition.test {
        ConditionTest::Present => value.is_some(),
        ConditionTest::Empty => value.is_none_or(Value::is_empty),
        ConditionTest::NotEmpty => value.is_some_and(|value| !value.is_empty()),
        ConditionTest::Equals(json) => value.is_some_and(|value| same_json(&value.to_json(), json)),
        ConditionTest::Greater(bound) => value.and_then(Value::size).is_some_and(|size| size > *bound),
    }
}

/// Equality of JSON in which 1 and 1.0 are the same number.
pub(crate) fn same_json(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Number(left), Json::Number(right)) => {
            // Whole numbers are compared as such: as floats, large neighbours are the same.
            let whole = |number: &serde_json::Number| number.is_i64() || number.is_u64();
            left == right || (!(whole(left) && whole(right)) && left.as_f64() == right.as_f64())
        }
        (Json::Array(left), Json::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same_json(left, right))
        }
        (Json::Object(left), Json::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| same_json(value, other)))
        }
        _ => left == right,
    }
}

pub(super) fn describe_test(test: &ConditionTest) -> String {
    match test {
        ConditionTest::Present => "is not there".into(),
        ConditionTest::Empty => "is not empty".into(),
        ConditionTest::NotEmpty => "is empty".into(),
        ConditionTest::Equals(json) => format!("does not equal {json}"),
        ConditionTest::Greater(bound) => format!("is not greater than {bound}"),
    }
}
