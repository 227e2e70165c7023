import protobuf from 'protobufjs';

/** The messages of version 2 of the protocol of key management plugins, and the form of the values in the store. */
const DEFINITIONS = `
syntax = "proto3";
message StatusRequest {}
message StatusResponse { string version = 1; string healthz = 2; string key_id = 3; }
message DecryptRequest { bytes ciphertext = 1; string uid = 2; string key_id = 3; map<string, bytes> annotations = 4; }
message DecryptResponse { bytes plaintext = 1; }
message EncryptRequest { bytes plaintext = 1; string uid = 2; }
message EncryptResponse { bytes ciphertext = 1; string key_id = 2; map<string, bytes> annotations = 3; }
message SealedSeed { bytes ciphertext = 1; string key_id = 2; map<string, bytes> annotations = 3; }
message SealedValue { bytes seed = 1; bytes data = 2; }
`;

const { root } = protobuf.parse(DEFINITIONS, { keepCase: true });

/** The state of a KMS plugin, as it reports it. */
export interface StatusResponse {
  readonly version: string;
  readonly healthz: string;
  readonly key_id: string;
}

/** A seed that the plugin has encrypted. Only the plugin can decrypt it. */
export interface SealedSeed {
  readonly ciphertext: Uint8Array;
  readonly key_id: string;
  readonly annotations: Readonly<Record<string, Uint8Array>>;
}

/** A value in the store: the SealedSeed, encoded, and the bytes that were encrypted with the seed. */
export interface SealedValue {
  readonly seed: Uint8Array;
  readonly data: Uint8Array;
}

/** The encoding of a message. */
export interface Codec<Message> {
  encode(message: object): Buffer;
  /** Throws an Error for bytes that are not such a message. */
  decode(bytes: Uint8Array): Message;
}

function codec<Message>(name: string): Codec<Message> {
  const type = root.lookupType(name);
  return {
    encode: message => type.encode(message).finish() as Buffer,
    decode: bytes => type.toObject(type.decode(bytes), { defaults: true, objects: true }) as Message,
  };
}

/** A method of a plugin. */
export interface Method<Response> {
  readonly path: string;
  readonly request: Codec<object>;
  readonly response: Codec<Response>;
}

const method = <Response>(name: string): Method<Response> => ({
  path: `/v2.KeyManagementService/${name}`,
  request: codec(`${name}Request`),
  response: codec(`${name}Response`),
});

/** Asks a plugin for its health and its current key. */
export const Status = method<StatusResponse>('Status');
/** Has a plugin encrypt a seed. */
export const Encrypt = method<SealedSeed>('Encrypt');
/** Has a plugin decrypt a seed. */
export const Decrypt = method<{ readonly plaintext: Uint8Array }>('Decrypt');

/** Seeds as they are stored in each value. */
export const SEALED_SEED = codec<SealedSeed>('SealedSeed');
/** Values as they are stored. */
export const SEALED_VALUE = codec<SealedValue>('SealedValue');
