import protobuf from 'protobufjs';

/** The messages of etcd's v3 API, limited to the fields used here. Enumerations are declared as numbers. */
const DEFINITIONS = `
syntax = "proto3";
message Header { int64 revision = 3; }
message KeyValue {
  bytes key = 1; int64 create_revision = 2; int64 mod_revision = 3; int64 version = 4; bytes value = 5;
}
message RangeRequest {
  bytes key = 1; bytes range_end = 2; int64 limit = 3; int64 revision = 4; bool serializable = 7; bool keys_only = 8;
  bool count_only = 9;
}
message RangeResponse { Header header = 1; repeated KeyValue kvs = 2; bool more = 3; int64 count = 4; }
message PutRequest { bytes key = 1; bytes value = 2; bool prev_kv = 4; bool ignore_value = 5; }
message PutResponse { Header header = 1; KeyValue prev_kv = 2; }
message DeleteRequest { bytes key = 1; bool prev_kv = 3; }
message DeleteResponse { int64 deleted = 2; repeated KeyValue prev_kvs = 3; }
message Compare { int32 result = 1; int32 target = 2; bytes key = 3; int64 version = 4; int64 mod_revision = 6; }
message RequestOp { oneof request { RangeRequest range = 1; PutRequest put = 2; DeleteRequest remove = 3; } }
message ResponseOp { oneof response { RangeResponse range = 1; PutResponse put = 2; DeleteResponse remove = 3; } }
message TxnRequest { repeated Compare compare = 1; repeated RequestOp success = 2; repeated RequestOp failure = 3; }
message TxnResponse { Header header = 1; bool succeeded = 2; repeated ResponseOp responses = 3; }
message CompactRequest { int64 revision = 1; bool physical = 2; }
message CompactResponse { Header header = 1; }
message WatchCreate {
  bytes key = 1; bytes range_end = 2; int64 start_revision = 3; bool progress_notify = 4; bool prev_kv = 6;
}
message WatchRequest { oneof request { WatchCreate create = 1; } }
message Event { int32 type = 1; KeyValue kv = 2; KeyValue prev_kv = 3; }
message WatchResponse {
  Header header = 1; int64 watch_id = 2; bool created = 3; bool canceled = 4; int64 compact_revision = 5;
  string cancel_reason = 6; repeated Event events = 11;
}
message AuthenticateRequest { string name = 1; string password = 2; }
message AuthenticateResponse { string token = 2; }
`;

const root = protobuf.parse(DEFINITIONS, { keepCase: true }).root;

/** A key with its value and versions. */
export interface KeyValue {
  readonly key: Buffer;
  readonly create_revision: number;
  readonly mod_revision: number;
  readonly version: number;
  readonly value: Buffer;
}
interface Header {
  readonly revision: number;
}
/** Response to a range request. */
export interface RangeResponse {
  readonly header: Header;
  readonly kvs: readonly KeyValue[];
  readonly count: number;
}
/** Response to one operation of a transaction. */
export interface ResponseOp {
  readonly range?: { readonly kvs: readonly KeyValue[] };
  readonly put?: { readonly prev_kv?: KeyValue | null };
  readonly remove?: { readonly prev_kvs: readonly KeyValue[] };
}
/** Response to a transaction. */
export interface TxnResponse {
  readonly header: Header;
  readonly succeeded: boolean;
  readonly responses: readonly ResponseOp[];
}
/** A message of a watch stream. */
export interface WatchResponse {
  readonly header: Header;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compact_revision: number;
  readonly cancel_reason: string;
  readonly events: readonly { readonly type: number; readonly kv: KeyValue; readonly prev_kv?: KeyValue }[];
}

/** A gRPC method of etcd: its path, and the encoding of its messages. */
export interface Method<Response> {
  readonly path: string;
  encode(request: object): Buffer;
  decode(bytes: Buffer): Response;
}

function method<Response>(path: string, request: string, response: string): Method<Response> {
  const input = root.lookupType(request);
  const output = root.lookupType(response);
  return {
    path,
    // Requests already have the right types, so the costly conversion by `fromObject` is skipped.
    encode: message => input.encode(message).finish() as Buffer,
    decode: bytes =>
      output.toObject(output.decode(bytes), { longs: Number, arrays: true, defaults: true, oneofs: false }) as Response,
  };
}

/** Reads keys. */
export const Range = method<RangeResponse>('/etcdserverpb.KV/Range', 'RangeRequest', 'RangeResponse');
/** Writes a key. */
export const Put = method<{ readonly header: Header }>('/etcdserverpb.KV/Put', 'PutRequest', 'PutResponse');
/** Runs a transaction. */
export const Txn = method<TxnResponse>('/etcdserverpb.KV/Txn', 'TxnRequest', 'TxnResponse');
/** Compacts the history. */
export const Compact = method<{ readonly header: Header }>(
  '/etcdserverpb.KV/Compact',
  'CompactRequest',
  'CompactResponse',
);
/** Opens a watch stream. */
export const Watch = method<WatchResponse>('/etcdserverpb.Watch/Watch', 'WatchRequest', 'WatchResponse');
/** Gets a token for a user. */
export const Authenticate = method<{ readonly token: string }>(
  '/etcdserverpb.Auth/Authenticate',
  'AuthenticateRequest',
  'AuthenticateResponse',
);
