-- What the role that serves pages may do: everything but change or remove frozen rows, so that not even a
-- fault of the site or a statement slipped into it can. Run in the site's database as the owner of its
-- tables, after every `migrate`:
--
--   psql -X -v ON_ERROR_STOP=1 -d plural_site -f roles.sql
--
-- plural_owner owns the tables and runs `migrate`; plural_web serves pages and works the queue.

BEGIN;

GRANT USAGE ON SCHEMA public TO plural_web;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO plural_web;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO plural_web;
ALTER DEFAULT PRIVILEGES FOR ROLE plural_owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO plural_web;
ALTER DEFAULT PRIVILEGES FOR ROLE plural_owner IN SCHEMA public
    GRANT USAGE, SELECT ON SEQUENCES TO plural_web;

-- A table is frozen if it has the trigger that refuses changes. `migrate` sees to it that all of them do.
DO $$
DECLARE
    frozen regclass;
BEGIN
    FOR frozen IN
        SELECT DISTINCT t.tgrelid::regclass
        FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
        WHERE p.proname = 'plural_site_refuse_change'
    LOOP
        EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON %s FROM plural_web', frozen);
    END LOOP;
END $$;

REVOKE INSERT, UPDATE, DELETE ON django_migrations FROM plural_web;

COMMIT;
