-- The best submission of each agent and domain, shards put together.
-- "Above Floor" is 0 for an agent that does no better than one that does nothing, and 100 for one
-- that passes all that the oracle passes; empty where the references were not played.
-- Only submissions in which every trial was scored compare; the others stand below.
WITH submissions AS (
    SELECT row_number() OVER () AS submission, participants.agent AS id, results
    FROM results
),
shards AS (
    SELECT
        submission,
        id,
        res.domain AS domain,
        CAST(res.score AS DOUBLE) AS passed,
        CAST(res.max_score AS DOUBLE) AS scored,
        CAST(res.max_score_all AS DOUBLE) AS trials,
        CAST(res.time_used AS DOUBLE) AS seconds,
        CAST(res.floor AS DOUBLE) AS floor,
        CAST(res.ceiling AS DOUBLE) AS ceiling
    FROM submissions
    CROSS JOIN UNNEST(submissions.results) AS r(res)
    WHERE res.max_score_all IS NOT NULL
),
whole AS (
    SELECT
        submission,
        id,
        domain,
        sum(passed) AS passed,
        sum(scored) AS scored,
        sum(trials) AS trials,
        sum(seconds) AS seconds,
        -- A shard's floor counts by its trials; where one shard has none, the whole has none.
        CASE WHEN count(floor) = count(*) THEN sum(floor * trials) / sum(trials) END AS floor,
        CASE WHEN count(ceiling) = count(*) THEN sum(ceiling * trials) / sum(trials) END AS ceiling
    FROM shards
    GROUP BY submission, id, domain
),
rated AS (
    SELECT
        *,
        CASE WHEN scored > 0 THEN 100 * passed / scored END AS pass_rate,
        CASE WHEN scored > 0 THEN 100 * passed / trials END AS pass_rate_all
    FROM whole
),
ranked AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY id, domain
            ORDER BY scored = trials DESC, pass_rate_all DESC NULLS LAST, trials DESC, seconds
        ) AS place
    FROM rated
)
SELECT
    id,
    domain AS "Domain",
    round(pass_rate, 2) AS "Pass Rate",
    round(pass_rate_all, 2) AS "Pass Rate (all trials)",
    round(CASE WHEN ceiling > floor THEN 100 * (pass_rate - floor) / (ceiling - floor) END, 2)
        AS "Above Floor",
    CAST(passed AS BIGINT) AS "Passed",
    CAST(scored AS BIGINT) AS "Scored",
    CAST(trials AS BIGINT) AS "Trials",
    round(seconds, 1) AS "Seconds"
FROM ranked
WHERE place = 1
ORDER BY domain, scored = trials DESC, pass_rate_all DESC NULLS LAST, trials DESC, id;
