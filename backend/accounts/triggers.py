APPEND_ONLY_AUDIT = """
CREATE FUNCTION accounts_auditentry_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only: entry % stays as it is', OLD.id
        USING ERRCODE = 'check_violation', CONSTRAINT = 'audit_is_append_only';
END $$;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON accounts_auditentry FOR EACH ROW
    EXECUTE FUNCTION accounts_auditentry_append_only();
"""

# TRUNCATE does not fire row triggers.
NEVER_EMPTIED_AUDIT = """
CREATE FUNCTION accounts_auditentry_never_emptied() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only: it is never emptied'
        USING ERRCODE = 'check_violation', CONSTRAINT = 'audit_is_never_emptied';
END $$;
CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON accounts_auditentry FOR EACH STATEMENT
    EXECUTE FUNCTION accounts_auditentry_never_emptied();
"""
