/**
 * The bounds that clients and plugins can meet, each with its reason; those of one mechanism alone stand beside it.
 * Sizes in bytes, times in milliseconds.
 */

/** Request body: what upstream accepts; larger objects could not be stored anyway. Over it: 413. */
export const BODY_BYTES = 3 * 1024 * 1024;
/**
 * Bodies of all requests under way together, as announced: they are read before it is known who sends them. Over it:
 * 429 with Retry-After.
 */
export const BODIES_BYTES = 512 * 1024 * 1024;
/** Stored object: etcd's request limit less its own overhead. Over it: 413. */
export const OBJECT_BYTES = 1.5 * 1024 * 1024;
/** Header block of a request: room for large bearer tokens and many headers. Over it: 431. */
export const HEADER_BYTES = 64 * 1024;
/** Parameters of a query: they are parsed before it is known who sends them. Over it: 400. */
export const QUERY_PARAMETERS = 1000;
/** Nesting of any decoded body: deeper documents overflow the stacks of recursive consumers. Over it: 400. */
export const DEPTH = 512;
/** Texts about unknown and repeated members of one body; upstream's bound. */
export const STRICT_ERRORS = 100;
/** Expanded aliases of a YAML document: stops exponential documents. */
export const YAML_ALIASES = 100;
/** Operations of one JSON Patch; upstream's bound. Over it: 413. */
export const JSON_PATCH_OPERATIONS = 10_000;
/**
 * Bytes of a list assembled in one turn of the event loop: what a socket takes at once. Larger slices cost page faults:
 * 30 % more CPU at 1 MB.
 */
export const LIST_SLICE_BYTES = 256 * 1024;
/**
 * Answers to reads from this size on are compressed for clients that accept it: upstream's bound; below it the time
 * costs more than the bytes.
 */
export const GZIP_BYTES = 128 * 1024;
/** Time that a long computation may take of one turn of the event loop: what other requests wait for it. */
export const SLICE_MS = 2;
/** Objects of the past that are asked of the store at once: bounds a message between threads. */
export const PAST_PAGE = 2000;
/** Unsent bytes of one watch before it is ended: a reader this far behind is served better by a new list. */
export const WATCH_BACKLOG_BYTES = 8 * 1024 * 1024;
/** Requests waiting for the pool before new ones get 429 with Retry-After. */
export const POOL_QUEUE = 10_000;
/**
 * Requests handed to a pool worker as one task. Larger batches make front end, pool and writer wait for each other
 * instead of overlapping.
 */
export const POOL_BATCH = 16;
/**
 * Young generation of a worker thread's heap, in MB: objects of a request under way should die in it (fewer
 * collections, 15 % less CPU per create).
 */
export const YOUNG_GENERATION_MB = 96;
/**
 * The same of the writer's and the controllers' threads, which handle bytes rather than objects: what they do not fill
 * they need not hold (50 MB less in all).
 */
export const QUIET_YOUNG_GENERATION_MB = 24;
/**
 * A selector, of labels or of fields. It is matched with every object of a list, and with every event of a watch: one
 * of so many keys costs about what it costs to send an event, 2 µs. Over it: 400.
 */
export const SELECTOR_KEYS = 100;
/** Requirements of a selector, which take time to parse: together with its values, a millisecond. Over it: 400. */
export const SELECTOR_REQUIREMENTS = 1000;
/** Values of a selector. Over it: 400. */
export const SELECTOR_VALUES = 2500;
/** Length of a selector; what is longer is not looked at. Over it: 400. */
export const SELECTOR_CHARACTERS = 32 * 1024;
/** Times a read-transform-write runs again after losing a race, before the client gets 409. */
export const WRITE_RETRIES = 16;
/**
 * Values of one object that are kept from others (`Strategy.claims`): when all change at once, a transaction has twice
 * as many operations and one more, and etcd takes 64.
 */
export const OBJECT_CLAIMS = 30;
/**
 * How long a read waits for a revision that the server has not reached, before it is answered with 504
 * (spec, "Resource version semantics: meanings"). Upstream waits as long.
 */
export const FUTURE_REVISION_MS = 3000;
/** How long history is kept for watches and continue tokens (spec, "Limits"). */
export const HISTORY_MS = 5 * 60 * 1000;
/**
 * What the front end remembers of identities and their permissions: some 500,000 permissions, which is 200 clients that
 * each read 50 kinds in 20 namespaces twice over. Those used least recently are dropped.
 */
export const ACCESS_CACHE_BYTES = 128 * 1024 * 1024;
/** The share of one identity, which chooses what it asks for: nobody can fill the cache alone. */
export const IDENTITY_CACHE_BYTES = 16 * 1024 * 1024;
/** Longest question to authorizers whose answer is remembered: paths and selectors may be as long as a header block. */
export const CACHED_KEY_CHARACTERS = 2048;
/** Time between bookmarks of a watch that asked for them: upstream's minute. */
export const BOOKMARK_MS = 60_000;
/**
 * How long before its end a timed watch gets a last bookmark (upstream's two seconds): a client reads it before it
 * connects again.
 */
export const LAST_BOOKMARK_MS = 2000;
/**
 * Message of a client on a WebSocket: those that watch have nothing to say. Over it the connection is closed.
 */
export const WEBSOCKET_MESSAGE_BYTES = 4096;
/**
 * Silence on a WebSocket, in seconds, after which its client must answer a ping or is cut: less than the idle time of
 * common proxies.
 */
export const WEBSOCKET_IDLE_SECONDS = 60;
/** Longest name of a field manager (upstream's bound). */
export const MANAGER_BYTES = 128;
/** Entries of `managedFields` for writes that are no applies; older ones are merged (upstream's bound). */
export const UPDATE_MANAGERS = 10;
/** Total size of annotations of one object (upstream's bound). */
export const ANNOTATIONS_BYTES = 256 * 1024;
/** Characters of all warnings of one answer, as upstream. Clients limit the size of the headers that they read. */
export const WARNINGS_CHARACTERS = 4096;
/** Characters to which each warning is truncated if all warnings of an answer exceed their limit, as upstream. */
export const WARNING_CHARACTERS = 256;
/**
 * How long requests under way may take once the server is told to end: upstream's bound of a request. Then their
 * connections are closed.
 */
export const DRAIN_MS = 60_000;
/** The default time limit of a call of a plugin, as for upstream's webhooks. A call that takes longer has failed. */
export const PLUGIN_CALL_MS = 10_000;
/** The longest time that a configuration can set for a call of a plugin, as for upstream's webhooks. */
export const PLUGIN_CALL_MAX_MS = 30_000;
/** How long one check of a health endpoint may take before it counts as failed: probes do not wait longer. */
export const HEALTH_CHECK_MS = 10_000;
/** How long one release of a plugin (`host.onClose`) may take: one that hangs must not keep the others from theirs. */
export const RELEASE_MS = 1000;
/** How long a thread that is told to end may take to release what its plugins hold. */
export const THREAD_CLOSE_MS = 3000;
