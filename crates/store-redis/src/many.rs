//! Many requests in one script call.

use std::collections::HashMap;

use gorl_core::{Action, Decision, Policy, State};
use redis::{Cmd, Value};

use crate::caller::{Caller, push_time};
use crate::failure::Failure;
use crate::question::{Question, stored_state, strange};
use crate::script::{Script, tag};

/// What binds the requests of a call together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The policy, which is that of all of them.
    Each,
    /// None spends unless all are admitted.
    All,
}

/// An answer to each question, in their order.
pub(crate) type Answers = Vec<Result<Decision, Failure>>;

/// Requests for one key under one policy, which the script takes together.
struct Group<'a> {
    key: &'a str,
    policy: usize,
    /// Which questions they are.
    members: Vec<usize>,
}

/// The questions as the script takes them.
struct Plan<'a> {
    questions: &'a [Question],
    policies: Vec<Policy>,
    groups: Vec<Group<'a>>,
}

/// Asks all questions in one call. What goes wrong with the call goes wrong for all of them.
pub(crate) async fn ask(
    caller: &Caller,
    questions: &[Question],
    mode: Mode,
) -> Result<Answers, Failure> {
    let plan = Plan::new(questions, mode);
    let given = caller.given_time()?;
    let script = match (mode, &*plan.policies) {
        (Mode::Each, [policy]) => Script::each(policy.strategy()),
        (Mode::Each, _) => return Err(strange(&"requests under several policies")),
        (Mode::All, _) => Script::all(),
    };
    let arguments = |command: &mut Cmd| plan.push(command, caller.grace_ms, given, mode);
    let key = questions.first().map_or("", |question| &question.key);
    let answer = caller.in_time(key, caller.evaluate(key, script, arguments)).await;
    match answer.map_err(|error| error.naming(key))? {
        Value::Array(parts) => plan.read(&parts, mode),
        other => Err(strange(&other)),
    }
}

impl<'a> Plan<'a> {
    /// Requests of one key and policy come together; in `All`, where the order may matter to the
    /// verdicts, only if they follow each other.
    fn new(questions: &'a [Question], mode: Mode) -> Self {
        let mut plan = Self { questions, policies: Vec::new(), groups: Vec::new() };
        let mut latest: HashMap<&str, usize> = HashMap::with_capacity(questions.len());
        for (index, question) in questions.iter().enumerate() {
            let policy = plan.policy(&question.policy);
            let known = latest.get(&*question.key).copied();
            match known.and_then(|group| plan.groups.get_mut(group).map(|found| (group, found))) {
                Some((_, group)) if group.policy == policy && mode == Mode::Each => {
                    group.members.push(index);
                }
                _ => {
                    latest.insert(&question.key, plan.groups.len());
                    plan.groups.push(Group { key: &question.key, policy, members: vec![index] });
                }
            }
        }
        plan
    }

    /// The number of a policy. There are few in a call.
    fn policy(&mut self, policy: &Policy) -> usize {
        self.policies.iter().position(|known| known == policy).unwrap_or_else(|| {
            self.policies.push(*policy);
            self.policies.len() - 1
        })
    }

    fn push(&self, command: &mut Cmd, grace_ms: u64, given: Option<u64>, mode: Mode) {
        command.arg(self.groups.len());
        for group in &self.groups {
            command.arg(group.key);
        }
        command.arg(grace_ms);
        push_time(command, given);
        if mode == Mode::All {
            command.arg(self.policies.len());
        }
        for policy in &self.policies {
            if mode == Mode::All {
                command.arg(tag(policy.strategy()));
            }
            command.arg(policy.limit()).arg(policy.window_ticks()).arg(policy.capacity());
        }
        for run in self.groups.chunk_by(|one, next| self.ask_the_same(one, next)) {
            let Some(group) = run.first() else {
                continue;
            };
            if mode == Mode::All {
                command.arg(group.policy + 1);
            }
            command.arg(run.len()).arg(group.members.len());
            for question in self.members(group) {
                let cost = i64::from(question.cost);
                command.arg(match question.action {
                    Action::Take => cost,
                    Action::Peek => -1 - cost,
                });
            }
        }
    }

    /// Whether two groups differ in nothing but their key.
    fn ask_the_same(&self, one: &Group<'_>, other: &Group<'_>) -> bool {
        let asked = |group| self.members(group).map(|question| (question.cost, question.action));
        one.policy == other.policy && asked(one).eq(asked(other))
    }

    fn members(&self, group: &Group<'_>) -> impl Iterator<Item = &Question> {
        group.members.iter().filter_map(|member| self.questions.get(*member))
    }

    /// Has core go through the groups as the script did.
    fn read(&self, parts: &[Value], mode: Mode) -> Result<Answers, Failure> {
        let [Value::Int(now), Value::Int(all), groups @ ..] = parts else {
            return Err(strange(&parts));
        };
        let now = u64::try_from(*now).map_err(|_| strange(&parts))?;
        if groups.len() != 2 * self.groups.len() {
            return Err(strange(&parts));
        }
        let mut states: HashMap<&str, Option<State>> = HashMap::with_capacity(self.groups.len());
        let mut answers: Vec<_> = self.questions.iter().map(|_| None).collect();
        for (group, reported) in self.groups.iter().zip(groups.chunks_exact(2)) {
            let [Value::Int(spent), stored] = reported else {
                return Err(strange(&parts));
            };
            let found = match states.get(group.key) {
                Some(state) => Ok(*state),
                None if *spent < 0 => Err(Failure::foreign(group.key)),
                None => stored_state(stored, group.key),
            };
            let found =
                found.and_then(|state| self.replay(group, state, now, *spent, &mut answers));
            match found {
                Ok(state) => {
                    states.insert(group.key, state);
                }
                Err(failure) => {
                    for index in &group.members {
                        if let Some(answer) = answers.get_mut(*index) {
                            *answer = Some(Err(failure.clone()));
                        }
                    }
                }
            }
        }
        let answers =
            answers.into_iter().map(|answer| answer.unwrap_or_else(|| Err(strange(&parts))));
        let answers: Answers = answers.collect();
        match mode {
            Mode::Each => Ok(answers),
            Mode::All => Self::bound_together(answers, *all == 1),
        }
    }

    /// Core's answers to the questions of a group, and the state after them.
    fn replay(
        &self,
        group: &Group<'_>,
        found: Option<State>,
        now: u64,
        spent: i64,
        answers: &mut [Option<Result<Decision, Failure>>],
    ) -> Result<Option<State>, Failure> {
        let mut state = found;
        let mut counted = 0;
        for index in &group.members {
            let (Some(question), Some(answer)) =
                (self.questions.get(*index), answers.get_mut(*index))
            else {
                continue;
            };
            let decision = question.decide(state, now)?;
            if decision.changes_state() {
                state = Some(decision.state());
                counted += 1;
            }
            *answer = Some(Ok(decision));
        }
        if counted == spent {
            return Ok(state);
        }
        let first = group.members.first().and_then(|index| self.questions.get(*index));
        Err(first.map_or_else(|| strange(&spent), |question| question.disagreed(found, now)))
    }

    /// The answers if none spends unless all are admitted: as peeks if one is denied.
    fn bound_together(answers: Answers, all: bool) -> Result<Answers, Failure> {
        let decisions = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
        if decisions.iter().all(Decision::is_allowed) != all {
            return Err(strange(&all));
        }
        let settled = |decision: Decision| if all { decision } else { decision.unspent() };
        Ok(decisions.into_iter().map(|decision| Ok(settled(decision))).collect())
    }
}
