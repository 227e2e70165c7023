import type { ApiObject } from '../../api/objects.js';

/** A rule of an authorizer that allows a request, or nearly does. */
export interface NearRule {
  readonly source: string;
  readonly rule: string;
  /** Parts of the request that the rule does not have; none if it allows the request. */
  readonly missing?: readonly string[];
}

/** A decision of the server about a request, with its reasons. */
export interface Decision extends ApiObject {
  readonly request: {
    readonly verb: string;
    readonly path: string;
    readonly group?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly dryRun?: boolean;
  };
  readonly sender?: {
    readonly username: string;
    readonly groups?: readonly string[];
    readonly authenticator?: string;
    readonly impersonator?: string;
  };
  readonly outcome: {
    readonly code: number;
    readonly reason?: string;
    readonly message?: string;
    readonly milliseconds: number;
  };
  readonly authorization?: {
    readonly allowed: boolean;
    readonly authorizers?: readonly {
      readonly name: string;
      readonly decision: string;
      readonly reason?: string;
      readonly error?: string;
      readonly rules?: readonly NearRule[];
    }[];
    /** Objects in YAML that would allow the request. */
    readonly grant?: string;
    readonly explainedAt?: string;
  };
  readonly steps?: readonly {
    readonly stage: string;
    readonly plugin: string;
    readonly part?: string;
    readonly result: string;
    readonly message?: string;
    readonly milliseconds?: number;
    readonly cost?: number;
    /** A JSON Patch (RFC 6902). */
    readonly patch?: string;
  }[];
  readonly violations?: readonly {
    readonly field: string;
    readonly reason: string;
    readonly message: string;
    readonly rule?: string;
  }[];
  readonly conflicts?: readonly {
    readonly field: string;
    readonly manager: string;
    readonly operation?: string;
    readonly since?: string;
  }[];
  readonly incomplete?: string;
}

/** The request in words: `create deployments.apps "web"`. */
export function requestText({ verb, path, group, resource, subresource, name }: Decision['request']): string {
  if (!resource) return `${verb} ${path}`;
  const of = `${resource}${group ? `.${group}` : ''}${subresource ? `/${subresource}` : ''}`;
  return `${verb} ${of}${name ? ` "${name}"` : ''}`;
}
