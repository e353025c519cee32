CHANGES = """
CREATE TABLE runs_change (
    transaction_id xid8 NOT NULL DEFAULT pg_current_xact_id(),
    changed_at timestamptz NOT NULL DEFAULT now(),
    run_id bigint
);
CREATE INDEX runs_change_by_transaction ON runs_change (transaction_id);

CREATE FUNCTION runs_note_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO runs_change (run_id) VALUES (coalesce(NEW.id, OLD.id));
    RETURN NULL;
END $$;

CREATE TRIGGER note_new_run AFTER INSERT ON runs_run
FOR EACH ROW WHEN (NEW.status = 'ready') EXECUTE FUNCTION runs_note_run();

CREATE TRIGGER note_deleted_run AFTER DELETE ON runs_run
FOR EACH ROW WHEN (OLD.status = 'ready') EXECUTE FUNCTION runs_note_run();

CREATE TRIGGER note_changed_run AFTER UPDATE ON runs_run
FOR EACH ROW WHEN (
    'ready' IN (OLD.status, NEW.status) AND OLD.* IS DISTINCT FROM NEW.*
) EXECUTE FUNCTION runs_note_run();

CREATE FUNCTION runs_note_everything() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO runs_change DEFAULT VALUES;
    RETURN NULL;
END $$;

CREATE TRIGGER note_emptied_runs AFTER TRUNCATE ON runs_run
FOR EACH STATEMENT EXECUTE FUNCTION runs_note_everything();

CREATE TRIGGER note_changed_environments AFTER UPDATE ON runs_environment
FOR EACH STATEMENT EXECUTE FUNCTION runs_note_everything();
"""
"""SQL of triggers that log each change of a processed run in the table `runs_change`.

A row without `run_id` means that all runs may have changed. `compare.engine` describes how the
analytics copies read the log.
"""
