/**
 * The limits that clients and plugins can reach, each with its reason. Limits of a single mechanism are declared next
 * to it. Sizes are in bytes, times in milliseconds.
 */

/** Nesting of any decoded body: deeper documents overflow the stacks of recursive functions. Above it: 400. */
export const DEPTH = 512;
/**
 * Characters of all attributes of a user together. They are sent between threads with each write, and cached with the
 * credentials.
 */
export const USER_CHARACTERS = 256 * 1024;
/** Violations that one function of a plugin may return: all of them are in one answer, each at least twice. */
export const VIOLATIONS = 10_000;

/** Request body: the limit of upstream. Larger objects could not be stored. Above it: 413. */
export const BODY_BYTES = 3 * 1024 * 1024;
/** Request body for a site of a plugin, whose senders are not known. Above it: 413. */
export const SITE_BODY_BYTES = 32 * 1024;
/**
 * Sessions of the console at once, and sign-ins that have begun: one more ends the oldest one of the user, or address,
 * with the most. How long a session lasts, and how long if unused.
 */
export const CONSOLE_SESSIONS = { most: 1000, lastMs: 12 * 3_600_000, idleMs: 3_600_000 };
/** How long after the start the one-time link that the server prints can be used. */
export const CONSOLE_LINK_MS = 10 * 60_000;
/** Bytes of bodies that have arrived, of all requests in flight together. Above it: 429 with Retry-After. */
export const BODIES_BYTES = 512 * 1024 * 1024;
/** The same for one user, so that no user can use up the share of the others. Above it: 429 with Retry-After. */
export const IDENTITY_BODY_BYTES = 128 * 1024 * 1024;
/** The same for all senders together that are anonymous or not authenticated yet. Above it: 429 with Retry-After. */
export const UNKNOWN_BODY_BYTES = 64 * 1024 * 1024;
/**
 * Bytes of a body of a request without known credentials after which the connection is not read until the sender is
 * authenticated and authorized. The bytes that have arrived by then wait: see `BodySink`.
 */
export const UNKNOWN_BODY_PART_BYTES = 64 * 1024;
/** How long a body may take to arrive: the limit of upstream for a request. Then: 504. */
export const BODY_MS = 60_000;
/** Stored object: the request limit of etcd without its own overhead. Above it: 500, upstream's answer. */
export const OBJECT_BYTES = 1.5 * 1024 * 1024;
/**
 * Size that defaults of a definition may add to an object, measured as its JSON and 16 bytes for each value. Schemas of
 * a kilobyte can add millions of values; more than this could not be stored. Above it: 422.
 */
export const DEFAULTS_BYTES = OBJECT_BYTES;
/** The same for all stored objects that are read at once, such as the items of a part of a list. Above it: 422. */
export const DEFAULTS_AT_ONCE_BYTES = 32 * 1024 * 1024;
/** Header block of a request, with room for large bearer tokens and many headers. Above it: 431. */
export const HEADER_BYTES = 64 * 1024;
/**
 * Value of one header: as much as common servers and proxies accept, and far more than any header that the server reads
 * needs, except credentials. Longer ones are refused before they are read. Above it: 431.
 */
export const HEADER_VALUE_BYTES = 8 * 1024;
/**
 * The same for `Authorization` and `Sec-WebSocket-Protocol`, which hold bearer tokens: those of identity providers that
 * list many groups or claims are longer than 8 KiB. Above it: 431.
 */
export const CREDENTIALS_BYTES = 32 * 1024;
/** Headers of a request on `--listener=node`, which does not count separators as bytes. Above it: 431. In uWS: 100. */
export const HEADERS = 1000;
/**
 * Open connections of one listener; further ones are closed at once. Each takes a file descriptor and about 30 KB,
 * whoever opens it, and the store needs descriptors as well.
 */
export const CONNECTIONS = 16_384;
/**
 * Connections that the kernel keeps for `--listener=node` until it accepts them; the kernel has a bound of its own,
 * often the same. A client for which there is no room tries again after a second, then after two, four and eight.
 * Compiled into uWS: 512.
 */
export const BACKLOG = 4096;
/**
 * Listening threads besides the main one. Each takes 30 to 40 MB, and has its own share of the limits of a listener.
 */
export const LISTENING_THREADS = 64;
/**
 * How long a TLS handshake or a header block may take: as in uWS, where this is compiled in. Then the connection is
 * closed, by `--listener=node` with 408 if it was the header block.
 */
export const HEADERS_MS = 10_000;
/**
 * How long a request with its body may take to arrive on `--listener=node`: 3 MiB at 50 KB a second. Over it: 408. uWS
 * expects 16 KB every 10 seconds.
 */
export const REQUEST_MS = 60_000;
/**
 * The largest number of characters of a header `tracestate` (W3C Trace Context, 3.3.1.5). A longer one is not passed
 * on.
 */
export const TRACESTATE_BYTES = 512;
/** The largest number of members of a header `tracestate` (W3C Trace Context, 3.3.1.1). */
export const TRACESTATE_MEMBERS = 32;
/**
 * How much of a body `--listener=node` reads and discards after the request was answered, so that clients that write
 * before they read get the answer. Then the connection is closed.
 */
export const DROPPED_BODY_BYTES = 64 * 1024 * 1024;
/** How long it does so. In uWS this time is compiled in, and the only bound. */
export const DROPPED_BODY_MS = 10_000;
/**
 * How long `--listener=node` keeps a connection without a request: longer than common proxies do, so that these close
 * theirs first. In uWS 10 seconds are compiled in.
 */
export const IDLE_MS = 65_000;
/** Parameters of a query, which is parsed before the sender is authenticated. Above it: 400. */
export const QUERY_PARAMETERS = 1000;
/** Body in CBOR: larger ones could seldom be stored, and some shapes of this size take a second. Above it: 413. */
export const CBOR_BYTES = 1.5 * 1024 * 1024;
/** Depth of a body in CBOR; upstream's limit. Above it: 400. */
export const CBOR_DEPTH = 64;
/** Errors for unknown and duplicate members of one body; upstream's limit. */
export const STRICT_ERRORS = 100;
/** Expanded aliases of a configuration file in YAML, against documents of exponential size. */
export const YAML_ALIASES = 100;
/**
 * Body in YAML that is not JSON: larger ones could seldom be stored. Whatever its shape, it is decoded in at most half
 * a second. Above it: 413.
 */
export const YAML_BYTES = 1.5 * 1024 * 1024;
/** Operations of one JSON Patch; upstream's limit. Above it: 413. */
export const JSON_PATCH_OPERATIONS = 10_000;
/**
 * Bytes of a list that are assembled in one turn of the event loop: as much as a socket accepts at once. Larger slices
 * cause page faults: 30 % more CPU time with 1 MB.
 */
export const LIST_SLICE_BYTES = 256 * 1024;
/**
 * Answers to reads from this size on are compressed for clients that accept it; upstream's limit. Below it, compression
 * takes more time than it saves.
 */
export const GZIP_BYTES = 128 * 1024;
/**
 * Bytes of stored objects that a pool thread encodes in another form in one job: about 10 ms. Other jobs that may take
 * long wait meanwhile, and for a slow reader, two such parts of an answer are held.
 */
export const RENDER_SLICE_BYTES = 256 * 1024;
/** Objects in such a job, for objects so small that the cost of each exceeds the cost of its bytes. */
export const RENDER_SLICE_OBJECTS = 256;
/**
 * Memory that a long answer holds at most: two parts, and the bytes that the connection has not accepted. An answer
 * with a shorter body counts its own length.
 */
export const LONG_ANSWER_BYTES = 1024 * 1024;
/** Bytes that all answers to gets and lists together hold while clients read them. Above it: 429 with Retry-After. */
export const ANSWERS_BYTES = 512 * 1024 * 1024;
/** The same for one user. Above it: 429 with Retry-After. */
export const IDENTITY_ANSWER_BYTES = 128 * 1024 * 1024;
/** The same for all anonymous senders together. Above it: 429 with Retry-After. */
export const UNKNOWN_ANSWER_BYTES = 32 * 1024 * 1024;
/** Parts of an answer that are encoded or wait for the reader at once: one being sent, one being encoded. */
export const RENDER_AHEAD = 2;
/**
 * Length of a stored object up to which the front end encodes it in protobuf, or as a row of a Table, itself: in 80 µs.
 * Passing a small object to the pool takes the front end as long, and the pool the same again.
 */
export const FRONT_ENCODING_BYTES = 16 * 1024;
/** Bytes of such objects that are encoded between two readings of the clock: about 0.4 ms. */
export const FRONT_SLICE_BYTES = 64 * 1024;
/**
 * Share of the machine's memory for encodings of objects in protobuf, and for cells of Tables, which save about 20 µs
 * for each object of a list.
 */
export const ENCODINGS_MEMORY_SHARE = 1 / 64;
/**
 * Bytes of encodings from which on those in protobuf are kept without the parts that they share with the stored JSON,
 * half of their size: restoring these takes 1 µs for each object of a list.
 */
export const ENCODINGS_WHOLE_BYTES = 32 * 1024 * 1024;
/** How long unread encodings are kept: long enough for controllers that start together. */
export const ENCODINGS_IDLE_MS = 30_000;
/** Time that long computations may take in one turn of the event loop, during which other requests wait. */
export const SLICE_MS = 2;
/** Past objects that are requested from the store at once: it limits the size of a message between threads. */
export const PAST_PAGE = 500;
/** Bytes of past events that are requested from the store at once: a slow reader of a resumed watch keeps no more. */
export const PAST_EVENTS_BYTES = 512 * 1024;
/**
 * Time for which a client may leave an answer, a list or events unread that wait for it in memory. Then its connection
 * is closed.
 */
export const STALLED_READER_MS = 60_000;
/** Lists and watches that read the past at once, so that commits seldom wait for them. Further ones wait. */
export const PAST_READS_AT_ONCE = 2;
/** Lists with selectors that search their collections at once. Further ones wait. */
export const SCANS_AT_ONCE = 16;
/**
 * Bytes of a body, or of objects to be encoded, from which a job counts as large: it takes a pool thread milliseconds
 * to seconds.
 */
export const LARGE_JOB_BYTES = 64 * 1024;
/** The factor by which a body in YAML or CBOR counts as longer than one in JSON: from 16 KB on, such a job is large. */
export const YAML_WEIGHT = 4;
/** Milliseconds for which watches are written to without interruption: other requests wait no longer than this. */
export const FLUSH_SLICE_MS = 2;
/**
 * Longest pause in milliseconds between two rounds of writing to watches. An event waits for it, and shares the cost of
 * its delivery with those that come meanwhile. Only rounds that take long themselves, to hundreds of watches, are
 * followed by a pause.
 */
export const FLUSH_PAUSE_MS = 20;
/** Unsent bytes of a watch before it is closed: for a client that is this far behind, a new list is cheaper. */
export const WATCH_BACKLOG_BYTES = 8 * 1024 * 1024;
/**
 * Milliseconds for which a write may occupy a pool thread. If one takes longer, later writes of its kind count as long.
 * More than compiling its code takes at the start, and than a thread waits for a core on a busy machine.
 */
export const LONG_JOB_MS = 20;
/** The same for several jobs in one batch: the jobs of each kind are then run alone, to find out which kind it was. */
export const LONG_BATCH_MS = 40;
/** Milliseconds for which a request waits, after a start, for the objects of its kind to be read from the store. */
export const LOADING_MS = 30_000;
/**
 * Milliseconds for which a job may occupy its pool thread. After that, the jobs that wait for it are given to another
 * thread. More than garbage collection takes, and than a thread waits for a core on a busy machine; less than clients
 * notice.
 */
export const KEPT_THREAD_MS = 100;
/**
 * Milliseconds after which such a job counts as stuck: the largest body of any shape takes less. Its thread is replaced
 * by another one, and the job counts against its user.
 */
export const STUCK_JOB_MS = 1000;
/** Threads that replace stuck ones at once: about 40 MB each. */
export const STAND_INS = 4;
/**
 * How long the jobs of a user are answered with 429 and Retry-After after its second stuck job; twice as long after
 * each further one. Each occupies a core for as long as its plugin may take, and a second.
 */
export const SLOWED_MS = 10_000;
/** The longest such time, and how long a stuck job counts. */
export const MOST_SLOWED_MS = 5 * 60 * 1000;
/** Requests waiting for the pool before new ones are answered with 429 and Retry-After. */
export const POOL_QUEUE = 10_000;
/**
 * Requests of one user that wait for pool or writer, so that no user fills the queue. Above it: 429 with Retry-After.
 */
export const IDENTITY_REQUESTS = POOL_QUEUE / 2;
/** The same for all senders together that are anonymous or not authenticated yet. Above it: 429 with Retry-After. */
export const UNKNOWN_REQUESTS = POOL_QUEUE / 4;
/**
 * Watches of one user: each takes about 2 µs of the main thread for every change of its collection. Above it: 429 with
 * Retry-After.
 */
export const IDENTITY_WATCHES = 5000;
/** Watches of all anonymous senders together. Above it: 429 with Retry-After. */
export const UNKNOWN_WATCHES = 500;
/** Deletions of deletecollection requests at once: enough to fill the groups of the writer. */
export const DELETIONS_AT_ONCE = 256;
/**
 * Requests sent to a pool thread as one task. With larger batches, front end, pool and writer wait for each other
 * instead of working in parallel.
 */
export const POOL_BATCH = 16;
/**
 * Young generation of the heap of a pool thread, in MB: the objects of a request should be collected in it (fewer
 * collections, 15 % less CPU time per create).
 */
export const YOUNG_GENERATION_MB = 96;
/**
 * Young generation of the heap of the control thread, in MB. It handles bytes rather than objects, so a smaller one
 * suffices (25 MB less).
 */
export const QUIET_YOUNG_GENERATION_MB = 24;
/**
 * The same for the writer. At the start, it reads all values into buffers outside its heap, which V8 collects when they
 * reach two thirds of this size. With a larger size, they would reach the 64 MB from which V8 collects the whole heap
 * repeatedly: 17 times instead of twice for 100,000 objects of 3.5 KB.
 */
export const WRITER_YOUNG_GENERATION_MB = 12;
/**
 * Keys of a label or field selector. It is matched with every object of a list and every event of a watch; with this
 * many keys it takes about as long as sending an event, 2 µs. Above it: 400.
 */
export const SELECTOR_KEYS = 100;
/** Requirements of a selector, which take time to parse: together with its values, a millisecond. Above it: 400. */
export const SELECTOR_REQUIREMENTS = 1000;
/** Values of a selector. Above it: 400. */
export const SELECTOR_VALUES = 2500;
/** Length of a selector; longer ones are not parsed. Above it: 400. */
export const SELECTOR_CHARACTERS = 32 * 1024;
/**
 * Charged objects that the writer keeps in memory, parsed: each takes a few kilobytes. Others are read when they are
 * charged.
 */
export const ACCOUNTS = 2000;
/** Encoded bytes of these objects. Parsed, they take several times as much. */
export const ACCOUNT_BYTES = 16 * 1024 * 1024;
/** Retries of a read-modify-write after a conflict before the client gets 409. */
export const WRITE_RETRIES = 16;
/**
 * How long a write waits for the verdict of the writer, and how long after its start it may run again: the limit of
 * upstream for a request. Then: 504.
 */
export const WRITE_MS = 60_000;
/**
 * Unique values of one object (`Strategy.claims`). If all of them change at once, a transaction has twice as many
 * operations and one more; etcd allows 64.
 */
export const OBJECT_CLAIMS = 30;
/**
 * How long a read waits for a revision that the server has not reached (spec, "Resource version semantics: meanings");
 * upstream's time. Then it is answered with 504.
 */
export const FUTURE_REVISION_MS = 3000;
/**
 * How long history is kept for watches and continue tokens, by default (spec, "Limits"). Upstream compacts etcd as
 * often.
 */
export const HISTORY_MS = 5 * 60 * 1000;
/**
 * Cached permissions of all identities: about 500,000, which is twice what 200 clients need that each read 50 kinds in
 * 20 namespaces. The least recently used ones are dropped.
 */
export const ACCESS_CACHE_BYTES = 128 * 1024 * 1024;
/**
 * Cached permissions of one identity. Clients choose what they request, so this prevents one of them from filling the
 * cache.
 */
export const IDENTITY_CACHE_BYTES = 16 * 1024 * 1024;
/** Longest key of a cached permission: paths and selectors may be as long as a header block. */
export const CACHED_KEY_CHARACTERS = 2048;
/** Time between the bookmarks of a watch that asked for them: a minute; upstream's time. */
export const BOOKMARK_MS = 60_000;
/**
 * Time before the end of a watch with a timeout at which it gets a last bookmark (upstream's two seconds), so that a
 * client reads it before it reconnects.
 */
export const LAST_BOOKMARK_MS = 2000;
/** Message of a client on a WebSocket: clients that watch send nothing. Above it the connection is closed. */
export const WEBSOCKET_MESSAGE_BYTES = 4096;
/**
 * Messages of a client on a WebSocket that wait for their receiver, with 64 bytes more for each. Above it the
 * connection is closed with code 1008; listeners that can stop reading do so before.
 */
export const WEBSOCKET_WAITING_BYTES = 1024 * 1024;
/**
 * Seconds without data on a WebSocket after which its client must answer a ping or is disconnected: less than the idle
 * time of common proxies.
 */
export const WEBSOCKET_IDLE_SECONDS = 60;
/** Length of the name of a field manager; upstream's limit. */
export const MANAGER_BYTES = 128;
/** Entries of `managedFields` of operation Update; older ones are merged. Upstream's limit. */
export const UPDATE_MANAGERS = 10;
/** Total size of the annotations of one object; upstream's limit. */
export const ANNOTATIONS_BYTES = 256 * 1024;
/**
 * Characters of the cells of a row of a Table, after which further cells are empty: definitions may have thousands of
 * columns that each show the whole object.
 */
export const ROW_CHARACTERS = 256 * 1024;
/** Characters of all warnings of one answer; upstream's limit. Clients limit the size of the headers that they read. */
export const WARNINGS_CHARACTERS = 4096;
/** Characters to which each warning is truncated if all warnings of an answer exceed their limit; upstream's length. */
export const WARNING_CHARACTERS = 256;
/**
 * How long requests in flight may take after the server has begun to shut down: the time limit of a request upstream.
 * Then their connections are closed.
 */
export const DRAIN_MS = 60_000;
/**
 * Causes of an error whose stacks are logged, each the cause of the one before: more than the layers of usual programs.
 */
export const LOGGED_CAUSES = 10;
/** Characters of the stacks of an error in the log: about 100 frames. Messages may contain texts of clients. */
export const LOGGED_CHARACTERS = 16 * 1024;
/** The default time limit of a call of a plugin, as for upstream's webhooks. A call that takes longer has failed. */
export const PLUGIN_CALL_MS = 10_000;
/**
 * Milliseconds after the time limit of a plugin at which a pool thread, or the writer, is ended if it does not return
 * from a call of the plugin: more than a thread waits for a core on a busy machine.
 */
export const PLUGIN_STALL_MS = 1000;
/** The longest time that a configuration can set for a call of a plugin, as for upstream's webhooks. */
export const PLUGIN_CALL_MAX_MS = 30_000;
/** Time for which a passed check of an embedded store holds: health endpoints notice a failure that much later. */
export const STORE_HEALTH_MS = 1000;
/**
 * Time from a change of objects on which permissions depend until the permissions for health endpoints are determined
 * again, once for all such changes.
 */
export const HEALTH_ACCESS_MS = 20;
/** Time limit of one check of a health endpoint, after which it has failed: probes do not wait longer. */
export const HEALTH_CHECK_MS = 10_000;
/**
 * Time limit of making one part of a plugin, which may open connections and read files. Then the start fails with the
 * name of the plugin, instead of waiting forever.
 */
export const PLUGIN_START_MS = 60_000;
/**
 * Time limit of one release function of a plugin (`host.onClose`), so that one that hangs does not delay the others.
 */
export const RELEASE_MS = 1000;
/** Time limit for a closing thread to release the resources of its plugins. */
export const THREAD_CLOSE_MS = 3000;
/**
 * Size of the answer of a webhook: that of the largest object as a patch in base64, with room for the rest. A larger
 * answer is a failed call.
 */
export const WEBHOOK_RESPONSE_BYTES = 4 * 1024 * 1024;
/**
 * Time limit of a request that is passed on to another server, or for which webhooks are called, unless its client may
 * keep it open; upstream's default. Its query may ask for less.
 */
export const ANSWER_MS = 60_000;
/**
 * Time limit of the answer of another server to a request for its discovery or OpenAPI documents. Without an answer,
 * they are shown as before.
 */
export const AGGREGATED_DOCUMENT_MS = 10_000;
/** How long a client waits for discovery or OpenAPI documents of other servers: once after each change of a version. */
export const AGGREGATED_WAIT_MS = 1000;
/** Discovery or OpenAPI document of another server: that of all built-in kinds has about 5 MB. */
export const AGGREGATED_DOCUMENT_BYTES = 16 * 1024 * 1024;
/** Message of a WebSocket of another server. Above it: the connection is closed. */
export const AGGREGATED_MESSAGE_BYTES = 1024 * 1024;
/**
 * Idle connections that a thread keeps to one webhook, and the number of names and certificates of webhooks for which
 * it keeps them.
 */
export const WEBHOOK_SOCKETS = 64;
/** How many times a busy webhook is called again within its timeout; the same as in upstream's client. */
export const WEBHOOK_RETRIES = 10;
/**
 * Size of the PEM in a CertificateSigningRequest: hundreds of names with the largest keys. It is parsed by threads that
 * serve other requests as well.
 */
export const CERTIFICATE_REQUEST_BYTES = 64 * 1024;
/** Bytes of audit events that wait to be written by one sink: those of some seconds, beyond which events are lost. */
export const AUDIT_BUFFER_BYTES = 16 * 1024 * 1024;
/** Batches of audit events that are sent at the same time: each may wait for a slow webhook, and has a connection. */
export const AUDIT_BATCHES = 16;
/** How long a closing server waits for the audit events that are not written yet. */
export const AUDIT_DRAIN_MS = 10_000;
/**
 * Bytes of a body that an audit event repeats: the largest event that upstream's truncating sinks write. The request
 * and the answer of a write fit into `AUDIT_BUFFER_BYTES`.
 */
export const AUDITED_BYTES = 10 * 1024 * 1024;
/**
 * Bytes of long answers that a thread keeps for audit events while clients read them, besides those that the answers
 * hold. Above it, events do not contain the answer.
 */
export const AUDITED_ANSWERS_BYTES = 128 * 1024 * 1024;
/**
 * Bytes of a body that is decoded only for the metadata of its object, because the event does not repeat the body: the
 * thread that serves connections decodes it. For a longer body, the name is that of the written object.
 */
export const AUDITED_NAME_BYTES = 100 * 1024;
/** Senders, namespaces or objects that one limit of events tracks at once: each takes some hundred bytes. */
export const EVENT_LIMIT_KEYS = 1_000_000;
/** How long the reviews of the images of a pod may take in total. */
export const IMAGE_REVIEW_MS = 30_000;
/** Answers about images that are kept; upstream's number. */
export const IMAGE_REVIEWS = 1024;
/** Annotations that admission may add to one audit event; each webhook and policy may give any number. */
export const AUDIT_ANNOTATIONS = 64;
/** Bytes of the value of such an annotation: upstream's limit for policies. */
export const AUDIT_ANNOTATION_BYTES = 10 * 1024;
/** Series of a metric of plugins, whose labels may name webhooks and policies: further ones are counted as `other`. */
export const METRIC_SERIES = 1000;
/** Observations of a thread that wait to be posted to the front end. */
export const OBSERVATIONS_WAITING = 10_000;
/** Labels that an informer has an index for: plugins name few. Queries by other labels search all objects. */
export const LABEL_INDEXES = 32;
/** Changes that an unused index of a label records before it is dropped, if it has fewer objects. */
export const LABEL_INDEX_CHANGES = 10_000;
/** A document of an identity provider: keys of providers that have hundreds are smaller. A larger one is not read. */
export const PROVIDER_DOCUMENT_BYTES = 1024 * 1024;
/** Keys of an identity provider that are used. Each may be tried for a token that does not name its key. */
export const PROVIDER_KEYS = 256;
/** How long reading the documents of an identity provider may take: requests with its tokens may wait for them. */
export const PROVIDER_MS = 5000;
/** Bytes that a credential plugin may print: a token and a chain of certificates. More is a failure of the plugin. */
export const EXEC_OUTPUT_BYTES = 1024 * 1024;
/**
 * An authentication or authorization file, or a watched file of certificates. It is read into memory by every start and
 * change.
 */
export const CONFIG_FILE_BYTES = 4 * 1024 * 1024;
/**
 * A file with manifests that a command reads. As YAML, it takes some fifty times its size in memory, and ten seconds.
 */
export const MANIFEST_BYTES = 16_000_000;
/** Keys of one provider, and providers of one resource, in a file that says how values are encrypted in the store. */
export const ENCRYPTION_KEYS = 64;
/** Answers of key management plugins: larger than the next two bounds permit. */
export const KMS_MESSAGE_BYTES = 64 * 1024;
/** An encrypted seed, and the name of its key. Both are part of each value. The bound is upstream's. */
export const KMS_CIPHERTEXT_BYTES = 1024;
/** The annotations of an encrypted seed, which are part of each value. The bound is upstream's. */
export const KMS_ANNOTATION_BYTES = 32 * 1024;
/** Characters of a plugin's text in an error, which is kept for each value that the plugin refuses. */
export const KMS_REASON_CHARACTERS = 1000;
/** Seeds of a key management plugin that are cached in clear text: each start of a server makes one. */
export const KMS_SEEDS = 1000;
/** Verified tokens that each thread of the pool caches. Each takes about 2 KB; others are verified again. */
export const REMEMBERED_TOKENS = 10_000;
/**
 * Connections of a thread to a webhook of an authenticator or authorizer. If it hangs, calls wait for one of them, and
 * other webhooks have their own.
 */
export const REVIEW_SOCKETS = 64;
/** Answers of the webhook that reviews tokens, and of each that reviews access, that are kept: about 1 KB each. */
export const REVIEW_ANSWERS = 10_000;
/**
 * How long a request may wait for a webhook that reviews tokens or access, or for an equal question: the webhook has 30
 * seconds, upstream's time, and its answer must reach the thread.
 */
export const TOKEN_REVIEW_MS = 35_000;
/**
 * How long a request may wait for all authorizers of an authorization file: longer than the request itself may take.
 */
export const ACCESS_CHAIN_MS = 65_000;
/** How long a webhook that reviews access may take; upstream's limit. */
export const ACCESS_REVIEW_MS = 30_000;
/** Pause before the first retry of a key of a reconciler that failed: most conflicts are over by then. */
export const BACK_OFF_MIN_MS = 5;
/** The longest pause before such a retry: short enough to notice a repair soon, long enough that failures are rare. */
export const BACK_OFF_MAX_MS = 30_000;
/** The longest time of a timer, in milliseconds: timers of Node.js with a longer one end immediately. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Keys that a reconciler may handle at once: each may have a request in flight. */
export const RECONCILES_AT_ONCE = 256;
/** Different events of a controller that are remembered, so that repetitions are counted in the same Event object. */
export const RECORDED_EVENTS = 1000;
/** Events that one controller may record about one object at once; more of them say nothing new, and are dropped. */
export const EVENT_BURST = 25;
/** The time after which one more event of an object may be recorded. */
export const EVENT_REFILL_MS = 5 * 60_000;
/** Events of a controller that wait to be written; further ones are dropped. */
export const EVENTS_WAITING = 1000;
/**
 * Tolerations of a pod, or of an annotation of its namespace, that PodTolerationRestriction compares: each with all
 * others. Pods have a dozen.
 */
export const COMPARED_TOLERATIONS = 2000;
/**
 * Pods of a namespace that are checked when it begins to enforce a level of pod security, as in upstream. The warnings
 * say how many more there are.
 */
export const PODS_CHECKED = 3000;
/** Bytes of the pods from which these are chosen: decoding them takes about a second, as long as in upstream. */
export const PODS_CHECKED_BYTES = 64 * 1024 * 1024;
/** Refused requests that can be explained afterwards: those of some minutes, unless a client is denied all the time. */
export const RECORDED_REFUSALS = 10_000;
/** Writes that can be explained afterwards. */
export const RECORDED_WRITES = 1000;
/** Bytes of the records of refusals, and of those of writes. */
export const RECORDED_BYTES = 32 * 1024 * 1024;
/** Characters of a message in such a record; the answer contained the whole message. */
export const RECORDED_MESSAGE_CHARACTERS = 4000;
/** Violations, conflicts, or steps of admission in such a record: there may be any number of policies. */
export const RECORDED_PARTS = 100;
/** Characters of the changes of mutators in such a record: those of a few large objects. */
export const RECORDED_CHANGE_CHARACTERS = 256 * 1024;
/** Rules that an explanation compares with a request: this occupies a thread for about 20 ms. */
export const COMPARED_RULES = 20_000;
