-- SPDX-License-Identifier: Apache-2.0
--
-- schema.sql: the run store, a SQLite file: what profiles found out.
-- The command writes and reads it (runstore.h, store_write.c, store_read.c);
-- the build puts this text into the program.  Look into it with
--
--     sqlite3 -readonly ~/.local/share/destall/runs.sqlite .schema
--
-- A change of it is a line in the table of runstore_steps.c and a new number
-- there, PRAGMA user_version; a file that has a higher one than the program
-- knows is left alone.
--
-- One row of runs is one `destall profile`; every other table has rows of a run,
-- counted by nr from 0 where their order matters.  NULL: not known.  Speeds are
-- samples a second, low and high the ends of the 95 % interval.  Texts are as
-- they came from command lines and jobs, of any bytes but 0.

CREATE TABLE runs (
	run INTEGER PRIMARY KEY,	-- in the order of storing
	id TEXT NOT NULL UNIQUE,	-- 20261117-134502-3f2a: when it began (UTC)
	name TEXT,			-- --name
	command TEXT,
	started INTEGER NOT NULL,	-- seconds since 1970
	seconds REAL,			-- that it took; of them:
	startup_s REAL,			-- until the first block, of all starts
	measured_s REAL,		-- in blocks
	starts INTEGER,			-- of the job
	mode TEXT NOT NULL,		-- steered, live, runs
	bottleneck TEXT,		-- compute, prep, fetch, handover
	sentence TEXT,			-- the verdict
	handover_ms_per_batch REAL, handover_low REAL, handover_high REAL,
	cpu_ms_per_sample REAL, cpu_low REAL, cpu_high REAL,
	-- what the job is
	batch_size INTEGER, workers INTEGER, prefetch INTEGER, ranks INTEGER,
	samples INTEGER,		-- of an epoch; 0: not known
	cores REAL,			-- that it may use
	bytes_per_sample REAL,		-- that it reads; 0: not known
	resident REAL,			-- of the files, in memory: 0 to 1, or negative
	fetch_s REAL,			-- of a worker for a sample from storage
	prep_s REAL, prep_cpu_s REAL,	-- of a worker for a sample from memory
	handover_s REAL,		-- per sample, in the main process
	is_pipelined INTEGER,		-- fetches while it prepares
	is_iterable INTEGER
);

CREATE TABLE rates (			-- those that are known
	run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	name TEXT NOT NULL,		-- ingest, ingest_busy, prep, storage, ...
	samples_per_s REAL, low REAL, high REAL,
	PRIMARY KEY (run, name)
) WITHOUT ROWID;

CREATE TABLE shares (			-- of the time of a sample; 0 to 1
	run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	name TEXT NOT NULL,		-- compute, prep, fetch, handover
	share REAL, low REAL, high REAL,
	PRIMARY KEY (run, name)
) WITHOUT ROWID;

CREATE TABLE workers (			-- of the loader, as the job is
	run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	nr INTEGER NOT NULL,
	fetch_ms_per_sample REAL, prep_ms_per_sample REAL,
	PRIMARY KEY (run, nr)
) WITHOUT ROWID;

CREATE TABLE alone (			-- the loader alone, files in memory
	run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	nr INTEGER NOT NULL,
	workers INTEGER,
	samples_per_s REAL, low REAL, high REAL,
	cpu_ms_per_sample REAL,
	PRIMARY KEY (run, nr)
) WITHOUT ROWID;

CREATE TABLE fixes (			-- the best first
	run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	nr INTEGER NOT NULL,
	what TEXT,
	gain REAL,			-- 0.31: 31 % more samples a second
	command TEXT,			-- that applies it, or a line of code
	PRIMARY KEY (run, nr)
) WITHOUT ROWID;

CREATE TABLE cuts (			-- time that was left out
	run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	nr INTEGER NOT NULL,
	what TEXT,
	seconds REAL,
	times INTEGER,
	PRIMARY KEY (run, nr)
) WITHOUT ROWID;

CREATE TABLE loaders (			-- every loader of the job
	run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	nr INTEGER NOT NULL,
	name TEXT,
	is_training INTEGER,
	batch_size INTEGER, workers INTEGER, batches INTEGER,
	seconds REAL,
	PRIMARY KEY (run, nr)
) WITHOUT ROWID;

CREATE TABLE seen (			-- what observers saw
	run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	nr INTEGER NOT NULL,
	phase TEXT,			-- replay, cached, ...
	source TEXT,			-- proc, pfm, ...
	name TEXT,			-- cycles
	unit TEXT,			-- 1, bytes, ns
	value REAL,
	PRIMARY KEY (run, nr)
) WITHOUT ROWID;

CREATE TABLE confessions (		-- what could not be measured, and why
	run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	nr INTEGER NOT NULL,
	sentence TEXT,
	PRIMARY KEY (run, nr)
) WITHOUT ROWID;
