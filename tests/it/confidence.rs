//! How sure is a finding? Evidence that looks alike and is worth less gives a weaker one.

use crate::run;
use rowrace::base::Language;
use rowrace::finding::Confidence;

/// A model whose column is tested, worked for, and set; `{}` is the column.
fn flag(column: &str) -> String {
    format!(
        "<?php
class Volume extends Illuminate\\Database\\Eloquent\\Model {{}}
class Sync {{
    public function run(int $id): void {{
        $volume = Volume::find($id);
        if (!$volume->{column}) {{
            $this->mailer->send($volume);
            $volume->{column} = true;
            $volume->save();
        }}
    }}
}}
"
    )
}

/// A bulk action on the ids of drafts; `{}` may add where else ids come from.
fn bulk(elsewhere: &str) -> String {
    format!(
        "<?php
function bulk_trash() {{
    global $wpdb;
    $ids = $wpdb->get_col( \"SELECT ID FROM {{$wpdb->posts}} WHERE post_status = 'draft'\" );
    {elsewhere}
    foreach ( $ids as $id ) {{
        $wpdb->update( $wpdb->posts, array( 'post_status' => 'trash' ), array( 'ID' => $id ) );
        do_action( 'trashed', $id );
    }}
}}
"
    )
}

/// A mirror of what another system says; `{}` is the state that the rows were picked by.
fn mirror(picked: &str) -> String {
    format!(
        "<?php
class Subscription extends Illuminate\\Database\\Eloquent\\Model {{}}
class Sync {{
    public function run(): void {{
        foreach (Subscription::where('paid', {picked})->get() as $subscription) {{
            $this->gateway->look($subscription);
            $subscription->paid = false;
            $subscription->save();
        }}
    }}
}}
"
    )
}

#[test]
fn what_was_done_once_can_be_undone_twice() {
    assert_eq!(confidence(&mirror("true")), [Confidence::Low]);
}

#[test]
fn rows_that_are_as_the_write_makes_them_are_no_check() {
    assert_eq!(confidence(&mirror("false")), [Confidence::Low]);
}

#[test]
fn a_check_that_only_spares_a_write_is_none() {
    let program = |body: &str| {
        format!(
            "<?php
class Database extends Illuminate\\Database\\Eloquent\\Model {{}}
class Page {{
    public function show(int $id): void {{
        $database = Database::find($id);
        if ($database->status !== 'running') {{
            $database->status = 'running';
            $database->save();
            {body}
        }}
        $this->render($database);
    }}
}}
"
        )
    };
    assert_eq!(confidence(&program("")), [Confidence::Low]);
    assert_eq!(confidence(&program("$this->mailer->send($database);")), [Confidence::High]);
}

#[test]
fn a_flag_that_says_what_was_done_is_a_state() {
    assert_eq!(confidence(&flag("reminder_mailed")), [Confidence::Medium]);
    assert_eq!(confidence(&flag("mailed")), [Confidence::High]);
}

#[test]
fn a_flag_that_says_how_something_is_set_up_is_none() {
    assert_eq!(confidence(&flag("is_directory")), [Confidence::Low]);
}

#[test]
fn the_filter_of_one_of_several_sources_of_keys_is_no_check() {
    assert_eq!(confidence(&bulk("")), [Confidence::High]);
    let elsewhere = "if (isset($_POST['ids'])) { $ids = explode(',', $_POST['ids']); }";
    assert_eq!(confidence(&bulk(elsewhere)), [Confidence::Low]);
}

fn confidence(text: &str) -> Vec<Confidence> {
    let source = run::source("a.php", text.to_owned(), Language::Php);
    let findings = run::engine().analyze(&[source]).findings;
    findings
        .iter()
        .filter(|it| *it.rule.0 != *run::WHOLE_PROGRAM_RULE)
        .map(|it| it.confidence)
        .collect()
}
