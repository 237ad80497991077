//! Stores that are wrong in one way each: a suite that cannot fail would show nothing.

use super::plain::Faults;
use super::run;

/// Each wrong store, and the check that must be the one to find it.
macro_rules! wrong {
    ($($fault:ident is found by $check:literal;)*) => { $(
        #[test]
        fn $fault() {
            let failure = run(Faults { $fault: true, ..Faults::default() });
            let failure = failure.expect_err("the suite passed a wrong store");
            assert_eq!(failure.check, $check, "{failure}");
            assert_ne!(failure.expected, failure.got, "{failure}");
        }
    )* };
}

wrong! {
    unlocks_between_read_and_write is found by "one key from many threads";
    counts_one_too_few is found by "a plain policy";
    counts_denials is found by "a plain policy";
    spends_on_peek is found by "a peek changes nothing";
    glues_parts is found by "keys stay apart";
    reads_keys_as_text is found by "odd keys";
    ignores_kinds_of_parts is found by "keys stay apart";
    counts_zero_as_one is found by "cost zero";
    never_lets_the_clock_go_back is found by "a plain policy";
    forgets_a_tick_early is found by "a plain policy";
    reads_states_of_any_strategy is found by "strategy change";
    rewrites_states_on_sight is found by "policy looked at and left";
    gives_back_by_forgetting is found by "give back, never past full";
    forgets_to_give_back is found by "give back, never past full";
    forgets_to_reset is found by "reset";
    resets_everything is found by "reset";
    counts_in_milliseconds is found by "a plain policy";
}
