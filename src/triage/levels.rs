//! As what is a finding shown: with its rule's severity, or with what the configuration says?

use super::Triaged;
use crate::config::{Config, Level};

/// With the final severity; none when it is not shown.
pub(super) fn leveled(mut triaged: Triaged, config: &Config) -> Option<Triaged> {
    let finding = &triaged.finding;
    if finding.confidence < config.min_confidence() || !config.wants_table(&finding.table) {
        return None;
    }
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
        let config = "[levels]\nnoisy = \"off\"\nmixed = { high = \"note\", low = \"off\" }\n";
        let config = Config::parse(config).expect("valid");
        let shown = |rule: &str, confidence| {
            let span = Span::new(SourceId(0), 0, 1);
            let rule = RuleId(rule.into());
            let finding = FindingBuilder::new(rule, Severity::Warning, confidence, span).build();
            leveled(Triaged { finding, fingerprint: String::new() }, &config)
                .map(|it| it.finding.severity)
        };
        assert_eq!(shown("noisy", Confidence::High), None);
        assert_eq!(shown("mixed", Confidence::High), Some(Severity::Note));
        assert_eq!(shown("mixed", Confidence::Medium), Some(Severity::Warning));
        assert_eq!(shown("mixed", Confidence::Low), None);
        assert_eq!(shown("other", Confidence::Low), Some(Severity::Warning));
    }
}
