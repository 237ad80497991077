//! `gorl trace`: JSON lines in, one JSON line out for each step, as they come.

mod grammar;

use std::io::{self, BufReader, Write};

use crate::args::TraceArgs;
use crate::engine::{self, Answer, Engine};
use crate::failure::Failure;
use crate::lines::{Line, Lines, MAX_LINE};

use grammar::Input;

/// Runs the command on standard input and output.
pub(crate) fn run(args: &TraceArgs) -> Result<(), Failure> {
    let mut engine = engine::by_name(&args.store).map_err(Failure::Message)?;
    let mut input = Lines::new(BufReader::with_capacity(1 << 16, io::stdin().lock()));
    let mut output = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let done = trace(&mut *engine, &mut input, &mut output);
    let finished = engine.finish().map_err(Failure::Message);
    // The answers before a bad line stand, so they are written before the error is told.
    output.flush().map_err(Failure::from_output)?;
    done.and(finished)
}

fn trace<R: io::Read>(
    engine: &mut dyn Engine,
    input: &mut Lines<BufReader<R>>,
    output: &mut impl Write,
) -> Result<(), Failure> {
    for number in 1_u64.. {
        // With nothing more at hand the next read may wait for whoever waits for our answers.
        if input.reader().buffer().is_empty() {
            output.flush().map_err(Failure::from_output)?;
        }
        let at_line = |message: &str| Failure::new(format!("line {number}: {message}"));
        let line = match input.next() {
            Ok(Some(Line::Text(line))) => line,
            Ok(Some(Line::TooLong)) => {
                return Err(at_line(&format!("the line is longer than {MAX_LINE} bytes")));
            }
            Ok(None) => break,
            Err(error) => return Err(at_line(&format!("cannot read standard input: {error}"))),
        };
        if line.trim_ascii().is_empty() {
            continue;
        }
        match grammar::parse(line).map_err(|message| at_line(&message))? {
            Input::Policy(policy) => engine.set_policy(policy).map_err(|error| at_line(&error))?,
            Input::Policies(policies) => {
                engine.set_policies(policies).map_err(|error| at_line(&error))?;
            }
            Input::Step(step) => {
                let answer = engine.step(&step).map_err(|error| at_line(&error))?;
                let written = write_answer(output, &answer).and_then(|()| writeln!(output));
                written.map_err(Failure::from_output)?;
            }
        }
    }
    Ok(())
}

/// Writes the answer by hand, for its waits may need more than the 64 bits of a JSON library.
fn write_answer(output: &mut impl Write, answer: &Answer) -> io::Result<()> {
    match answer {
        Answer::CostExceedsLimit => write!(output, r#"{{"error":"cost_exceeds_limit"}}"#),
        Answer::Decided { .. } => {
            write!(output, "{{")?;
            write_figures(output, answer)?;
            write!(output, "}}")
        }
        Answer::Several { together, binding, each } => {
            write!(output, "{{")?;
            write_figures(output, together)?;
            let text = |name: &str| serde_json::Value::from(name).to_string();
            write!(output, r#","binding":{},"policies":["#, text(binding))?;
            for (index, (name, answer)) in each.iter().enumerate() {
                let comma = if index > 0 { "," } else { "" };
                write!(output, r#"{comma}{{"name":{},"#, text(name))?;
                write_figures(output, answer)?;
                write!(output, "}}")?;
            }
            write!(output, "]}}")
        }
    }
}

/// The figures of a decision, without the braces around them.
fn write_figures(output: &mut impl Write, answer: &Answer) -> io::Result<()> {
    let Answer::Decided { allowed, limit, remaining, reset_ns, retry_after_ns } = answer else {
        return Ok(());
    };
    write!(
        output,
        r#""allowed":{allowed},"limit":{limit},"remaining":{remaining},"reset_ns":{reset_ns},"#
    )?;
    match retry_after_ns {
        Some(wait) => write!(output, r#""retry_after_ns":{wait}"#),
        None => write!(output, r#""retry_after_ns":null"#),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::MemoryEngine;

    fn run(input: &str) -> (String, Result<(), Failure>) {
        let mut output = Vec::new();
        let mut lines = Lines::new(BufReader::new(input.as_bytes()));
        let done = trace(&mut MemoryEngine::default(), &mut lines, &mut output);
        (String::from_utf8(output).unwrap(), done)
    }

    #[test]
    fn answers_are_in_the_promised_shape_and_order() {
        let (output, done) = run(concat!(
            r#"{"policy":{"strategy":"token_bucket","limit":10,"window_ns":1000000000,"burst":20}}"#,
            "\n\n",
            r#"{"at_ns":1500000000,"key":"a","cost":1}"#,
            "\n",
            r#"{"at_ns":1500000000,"cost":21}"#,
        ));
        assert_eq!(done, Ok(()));
        let expected = concat!(
            r#"{"allowed":true,"limit":20,"remaining":19,"reset_ns":100000000,"retry_after_ns":null}"#,
            "\n",
            r#"{"error":"cost_exceeds_limit"}"#,
            "\n",
        );
        assert_eq!(output, expected);
    }

    #[test]
    fn a_bad_line_ends_the_run_and_earlier_answers_stay() {
        let (output, done) = run(concat!(
            r#"{"policy":{"strategy":"fixed_window","limit":1,"window":"1s"}}"#,
            "\n",
            r#"{"at_ns":0}"#,
            "\n",
            r#"{"at_ns":-1}"#,
            "\n",
            r#"{"at_ns":0}"#,
        ));
        assert_eq!(output.lines().count(), 1);
        let Err(Failure::Message(message)) = done else { panic!("no error") };
        assert!(message.starts_with("line 3: at_ns must be a whole number"), "{message}");
    }

    #[test]
    fn waits_beyond_64_bits_are_exact() {
        let mut output = Vec::new();
        let reset_ns = 1_400_000_000_000_000_000_000_000_001;
        let answer = Answer::Decided {
            allowed: false,
            limit: 1,
            remaining: 0,
            reset_ns,
            retry_after_ns: Some(reset_ns - 1),
        };
        write_answer(&mut output, &answer).unwrap();
        let expected = concat!(
            r#"{"allowed":false,"limit":1,"remaining":0,"reset_ns":1400000000000000000000000001,"#,
            r#""retry_after_ns":1400000000000000000000000000}"#,
        );
        assert_eq!(String::from_utf8(output).unwrap(), expected);
    }
}
