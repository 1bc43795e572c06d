CREATE TABLE learnkit_calls (
	"key" TEXT NOT NULL,
	result TEXT NOT NULL,
	at DOUBLE NOT NULL,
	PRIMARY KEY ("key")
);
CREATE TABLE learnkit_counters (
	team TEXT NOT NULL,
	last INTEGER NOT NULL,
	PRIMARY KEY (team)
);
CREATE TABLE learnkit_inboxes (
	team TEXT NOT NULL,
	name TEXT NOT NULL,
	PRIMARY KEY (team, name)
);
CREATE TABLE learnkit_mail (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	team TEXT NOT NULL,
	inbox TEXT NOT NULL,
	value TEXT NOT NULL,
	done SMALLINT NOT NULL
);
CREATE TABLE learnkit_meta (
	name TEXT NOT NULL,
	value INTEGER,
	PRIMARY KEY (name)
);
CREATE TABLE learnkit_tasks (
	team TEXT NOT NULL,
	id INTEGER NOT NULL,
	status TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (team, id)
);
CREATE TABLE learnkit_values (
	team TEXT NOT NULL,
	name TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (team, name)
);
CREATE INDEX ix_learnkit_calls_at ON learnkit_calls (at);
CREATE INDEX learnkit_mail_new ON learnkit_mail (team, inbox, number) WHERE done = 0;
CREATE INDEX learnkit_tasks_open ON learnkit_tasks (team, status) WHERE status IN ('pending', 'in_progress');
