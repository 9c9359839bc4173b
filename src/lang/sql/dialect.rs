//! The dialect that takes the data-changing statements of every engine at once.
//!
//! Tokens come from our own lexer, so only what the parser asks matters here. The parser's own
//! branches on the dialect's type see the generic dialect.

use sqlparser::dialect::{Dialect, GenericDialect};
use sqlparser::keywords::{Keyword, RESERVED_FOR_TABLE_ALIAS};
use sqlparser::parser::Parser;
use std::any::TypeId;

/// See the module.
#[derive(Debug)]
pub(super) struct Lax;

/// Words that end a table reference in one engine or another.
const NO_ALIAS: &[Keyword] = &[
    Keyword::USE,
    Keyword::FORCE,
    Keyword::IGNORE,
    Keyword::STRAIGHT_JOIN,
    Keyword::SET,
    Keyword::RETURNING,
    Keyword::OUTPUT,
    Keyword::LOCK,
    Keyword::FOR,
    Keyword::WHEN,
    Keyword::ON,
    Keyword::USING,
];

/// Answers every question of the list with yes.
macro_rules! yes {
    ($($name:ident),+ $(,)?) => {
        $(fn $name(&self) -> bool {
            true
        })+
    };
}

impl Dialect for Lax {
    fn dialect(&self) -> TypeId {
        TypeId::of::<GenericDialect>()
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        GenericDialect.is_identifier_start(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        GenericDialect.is_identifier_part(ch)
    }

    fn is_table_alias(&self, kw: &Keyword, _parser: &mut Parser) -> bool {
        !RESERVED_FOR_TABLE_ALIAS.contains(kw) && !NO_ALIAS.contains(kw)
    }

    yes!(
        allow_extract_custom,
        allow_extract_single_quotes,
        supports_aggregate_order_by_with_empty_args,
        supports_aliased_function_args,
        supports_array_typedef_with_brackets,
        supports_bang_not_operator,
        supports_bitwise_shift_operators,
        supports_comma_join_constraint,
        supports_comma_separated_set_assignments,
        supports_comma_separated_trim,
        supports_comparison_in_between_low_bound,
        supports_connect_by,
        supports_cross_join_constraint,
        supports_cte_materialization,
        supports_double_eq_assignment,
        supports_extract_comma_syntax,
        supports_filter_during_aggregation,
        supports_group_by_expr,
        supports_group_by_with_modifier,
        supports_in_empty_list,
        supports_in_table_expression,
        supports_insert_set,
        supports_insert_table_alias,
        supports_interval_options,
        supports_is_operator,
        supports_left_associative_joins_without_parens,
        supports_limit_comma,
        supports_match_against,
        supports_named_fn_args_with_assignment_operator,
        supports_named_fn_args_with_rarrow_operator,
        supports_notnull_operator,
        supports_outer_join_operator,
        supports_parens_around_table_factor,
        supports_partition_by_after_order_by,
        supports_projection_trailing_commas,
        supports_select_modifiers,
        supports_select_wildcard_except,
        supports_singular_value_keyword,
        supports_string_escape_constant,
        supports_string_literal_concatenation,
        supports_subquery_as_function_arg,
        supports_table_hints,
        supports_table_inheritance_markers,
        supports_table_partitions,
        supports_tilde_like_match_operator,
        supports_top_before_distinct,
        supports_try_convert,
        supports_update_order_by,
        supports_values_as_table_factor,
        supports_window_clause_named_window_reference,
        supports_window_function_null_treatment_arg,
    );
}
