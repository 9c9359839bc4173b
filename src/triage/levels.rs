//! As what is a finding shown: with its rule's severity, or with what the configuration says?

use super::Triaged;
use crate::config::{Config, Level};

/// Sets the final severities; a rule that is off is left out.
pub(super) fn leveled(findings: Vec<Triaged>, config: &Config) -> Vec<Triaged> {
    findings.into_iter().filter_map(|it| level(it, config)).collect()
}

fn level(mut triaged: Triaged, config: &Config) -> Option<Triaged> {
    match config.level_of(&triaged.finding) {
        Some(Level::Off) => return None,
        Some(Level::Show(severity)) => triaged.finding.severity = severity,
        None => (),
    }
    Some(triaged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{SourceId, Span};
    use crate::finding::{Confidence, FindingBuilder, RuleId, Severity};

    #[test]
    fn levels_go_by_rule_and_confidence() {
        let config = "[rules]\nnoisy = \"off\"\nmixed = { high = \"note\", low = \"off\" }\n";
        let config = Config::parse(config).expect("valid");
        let shown = |rule: &str, confidence| {
            let span = Span::new(SourceId(0), 0, 1);
            let rule = RuleId(rule.into());
            let finding = FindingBuilder::new(rule, Severity::Warning, confidence, span).build();
            level(Triaged { finding, fingerprint: String::new() }, &config)
                .map(|it| it.finding.severity)
        };
        assert_eq!(shown("noisy", Confidence::High), None);
        assert_eq!(shown("mixed", Confidence::High), Some(Severity::Note));
        assert_eq!(shown("mixed", Confidence::Medium), Some(Severity::Warning));
        assert_eq!(shown("mixed", Confidence::Low), None);
        assert_eq!(shown("other", Confidence::Low), Some(Severity::Warning));
    }
}
