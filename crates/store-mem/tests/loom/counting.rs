//! Threads that meet on one key: nothing is admitted twice, nothing counted is lost.

use gorl_core::{Action, Strategy};

use crate::{KEY, Subject, WINDOW, beside, explore, explore_three, policy};

/// Two callers of a limit of one, who find the key there already.
#[test]
fn same_key_admits_exactly_the_limit() {
    for strategy in Strategy::ALL {
        explore(move || {
            let (subject, policy) = (Subject::new(), policy(strategy, 2));
            assert!(subject.take(&policy, KEY));
            let other = subject.clone();
            let (a, b) = beside(move || other.take(&policy, KEY), || subject.take(&policy, KEY));
            assert!(a != b, "{strategy}: one more fits, and {a} and {b} were the answers");
            assert_eq!(subject.remaining(&policy, KEY), 0);
        });
    }
}

/// Three callers of a limit of two, on a key that nobody has asked for yet.
#[test]
fn three_callers_of_one_key_admit_exactly_the_limit() {
    for strategy in Strategy::ALL {
        explore_three(move || {
            let (subject, policy) = (Subject::new(), policy(strategy, 2));
            let (one, two) = (subject.clone(), subject.clone());
            let (a, (b, c)) = beside(
                move || one.take(&policy, KEY),
                || beside(move || two.take(&policy, KEY), || subject.take(&policy, KEY)),
            );
            let admitted = [a, b, c].into_iter().filter(|admitted| *admitted).count();
            assert_eq!(admitted, 2, "{strategy}");
            assert_eq!(subject.store.len(), 1);
        });
    }
}

/// The first two questions of a key make one entry, and both count in it.
#[test]
fn two_first_hits_make_one_entry() {
    for strategy in Strategy::ALL {
        explore(move || {
            let (subject, policy) = (Subject::new(), policy(strategy, 3));
            let other = subject.clone();
            let (a, b) = beside(move || other.take(&policy, KEY), || subject.take(&policy, KEY));
            assert!(a && b);
            assert_eq!(subject.remaining(&policy, KEY), 1);
            assert_eq!(subject.store.len(), 1);
        });
    }
}

/// Two callers come just as the window has rolled: the new window is opened once.
#[test]
fn rolled_window_opens_once() {
    explore(|| {
        let (subject, policy) = (Subject::new(), policy(Strategy::FixedWindow, 1));
        subject.exhaust(&policy, KEY);
        subject.clock.advance(WINDOW);
        let other = subject.clone();
        let (a, b) = beside(move || other.take(&policy, KEY), || subject.take(&policy, KEY));
        assert!(a != b, "one fits in the new window, and {a} and {b} were the answers");
    });
    // Half of the sliding window's count still weighs: of two that would fit one does.
    explore(|| {
        let (subject, policy) = (Subject::new(), policy(Strategy::SlidingWindow, 2));
        subject.exhaust(&policy, KEY);
        subject.clock.advance(WINDOW + WINDOW / 2);
        let other = subject.clone();
        let (a, b) = beside(move || other.take(&policy, KEY), || subject.take(&policy, KEY));
        assert!(a != b, "one fits beside the old window, and {a} and {b} were the answers");
        assert_eq!(subject.remaining(&policy, KEY), 0);
    });
}

/// A caller may have read the clock before the window rolled and reach the count afterwards, when
/// another has opened the new window already. It must not bring the old one back.
#[test]
fn late_caller_of_the_old_window_opens_none() {
    let quarter = WINDOW / 4;
    for (strategy, quarters) in [(Strategy::FixedWindow, 4), (Strategy::SlidingWindow, 8)] {
        explore(move || {
            let (subject, policy) = (Subject::new(), policy(strategy, 1));
            subject.exhaust(&policy, KEY);
            subject.clock.advance((quarters - 1) * quarter);
            let late = subject.clone();
            let on_time = || {
                subject.clock.advance(quarter);
                subject.take(&policy, KEY)
            };
            let (a, b) = beside(move || late.take(&policy, KEY), on_time);
            assert!(a != b, "{strategy}: one fits, and {a} and {b} were the answers");
            assert_eq!(subject.remaining(&policy, KEY), 0);
        });
    }
}

/// What is given back is there for the caller that comes after, and only once.
#[test]
fn give_back_is_taken_once() {
    for strategy in Strategy::ALL {
        explore(move || {
            let subject = Subject::with(|builder| builder.shards(1).capacity(1));
            let policy = policy(strategy, 1);
            subject.exhaust(&policy, KEY);
            let other = subject.clone();
            let ((), taken) =
                beside(move || other.give_back(&policy, KEY), || subject.take(&policy, KEY));
            assert_eq!(subject.remaining(&policy, KEY), u32::from(!taken), "{strategy}");
            assert_eq!(subject.store.len(), usize::from(taken));
        });
    }
}

/// Two who give back what one of them has spent do not fill the key past full.
#[test]
fn two_give_backs_end_at_full() {
    for strategy in Strategy::ALL {
        explore(move || {
            let (subject, policy) = (Subject::new(), policy(strategy, 2));
            assert!(subject.take(&policy, KEY));
            let other = subject.clone();
            beside(move || other.give_back(&policy, KEY), || subject.give_back(&policy, KEY));
            assert_eq!(subject.remaining(&policy, KEY), 2);
            assert!(subject.store.is_empty());
        });
    }
}

/// A reset falls before or after a take, never into it.
#[test]
fn reset_forgets_what_was_before_it() {
    for strategy in Strategy::ALL {
        explore(move || {
            let subject = Subject::with(|builder| builder.shards(1).capacity(1));
            let policy = policy(strategy, 2);
            assert!(subject.take(&policy, KEY));
            let other = subject.clone();
            let ((), seen) =
                beside(move || other.reset(KEY), || subject.ask(&policy, KEY, 1, Action::Take));
            assert!(seen.is_allowed());
            // None left was the answer before the reset; one left was the answer after it.
            let expected = if seen.remaining() == 0 { 2 } else { 1 };
            assert_eq!(subject.remaining(&policy, KEY), expected, "{strategy}");
            assert_eq!(subject.store.len(), usize::from(expected == 1));
        });
    }
}

/// A peek sees the count before or after a take, and changes nothing.
#[test]
fn peek_sees_a_whole_count() {
    for strategy in Strategy::ALL {
        explore(move || {
            let (subject, policy) = (Subject::new(), policy(strategy, 2));
            assert!(subject.take(&policy, KEY));
            let other = subject.clone();
            let (taken, seen) = beside(
                move || other.take(&policy, KEY),
                || subject.ask(&policy, KEY, 1, Action::Peek),
            );
            assert!(taken, "{strategy}: the peek has spent");
            assert!(seen.remaining() == u32::from(seen.is_allowed()), "{strategy}");
            assert_eq!(subject.remaining(&policy, KEY), 0);
        });
    }
}
