//! `rowrace rules` and `rowrace explain`: what can be found, and what it means.

use super::args::{ExplainArgs, RulesArgs, RulesFormatArg};
use super::setup::Setup;
use super::{Exit, Streams};
use crate::base::Language;
use crate::config::nearest;
use crate::report::{
    RuleCard, write_card, write_rule_list, write_rules_json, write_rules_markdown,
};
use crate::rule::{Example, Rule, Values};
use crate::triage::{OWN_RULES, OwnRule};
use anyhow::{Result, bail};

pub(super) fn list(args: &RulesArgs, streams: Streams) -> Result<Exit> {
    let setup = Setup::load(&args.setup, streams)?;
    let cards = cards(&setup);
    streams.out(|out| match args.format {
        RulesFormatArg::Text => write_rule_list(&cards, out),
        RulesFormatArg::Json => write_rules_json(&cards, out),
        RulesFormatArg::Markdown => write_rules_markdown(&cards, out),
    })?;
    Ok(Exit::Clean)
}

pub(super) fn explain(args: &ExplainArgs, streams: Streams) -> Result<Exit> {
    let setup = Setup::load(&args.setup, streams)?;
    let cards = cards(&setup);
    let named: Vec<_> = cards.iter().filter(|it| it.id == args.rule).collect();
    if named.is_empty() {
        match nearest(&args.rule, &setup.rule_ids()) {
            Some(near) => bail!("unknown rule `{}`, did you mean `{near}`?", args.rule),
            None => bail!("unknown rule `{}`, `rowrace rules` lists all rules", args.rule),
        }
    }
    streams.out(|out| named.into_iter().try_for_each(|it| write_card(it, out)))?;
    Ok(Exit::Clean)
}

/// All rules, sorted by id.
pub(super) fn cards(setup: &Setup) -> Vec<RuleCard<'_>> {
    let packs = setup.packs.rules.iter().map(card);
    let mut cards: Vec<_> = packs.chain(OWN_RULES.iter().map(own_card)).collect();
    cards.sort_by_key(|it| it.id);
    cards
}

fn card(rule: &Rule) -> RuleCard<'_> {
    let values = Values::default();
    RuleCard {
        id: &rule.id.0,
        title: &rule.title,
        severity: [rule.levels.high, rule.levels.medium, rule.levels.low],
        why: rule.texts.why.render(&values),
        help: rule.texts.help.render(&values),
        bad: rule.bad.iter().map(snippet).collect(),
        good: rule.good.iter().map(snippet).collect(),
        can_be_expected: true,
    }
}

fn snippet(example: &Example) -> (Language, &str) {
    (example.language, &example.code)
}

fn own_card(rule: &OwnRule) -> RuleCard<'_> {
    RuleCard {
        id: rule.id,
        title: rule.title,
        severity: [Some(rule.severity); 3],
        why: rule.why.to_owned(),
        help: rule.help.to_owned(),
        bad: Vec::new(),
        good: Vec::new(),
        can_be_expected: false,
    }
}
