import {
  type Authorization,
  type Authorizer,
  authorizer as authorizerPoint,
  type ExplainedOpinion,
  type Explanation,
  type Host,
} from '../../../core/api/index.js';
import { setTimeout } from '../../../core/runtime/timers.js';
import { type AccessWebhookHost, webhookAuthorizer } from '../webhook/authorizer.js';
import { conditionsOf } from '../webhook/conditions.js';
import { CHAIN_SERVICE } from './background.js';
import type { AuthorizerType, ConfiguredAuthorizer } from './file.js';

/** How long a decision may be remembered, in milliseconds: a change of the file is effective within seconds. */
const REMEMBERED_MS = 1000;
/** Time after which webhooks of a previous file are closed: no call takes longer. */
const CLOSE_MS = 60_000;

/** The authorizers of a file, by type, without those of the type Webhook. */
export type FixedAuthorizers = ReadonlyMap<AuthorizerType, Authorizer>;

interface Webhook {
  readonly authorizer: Authorizer;
  readonly close: () => void;
}

interface Prepared {
  readonly state: readonly ConfiguredAuthorizer[];
  readonly combined: Authorization;
  /** The webhooks by their configuration. */
  readonly webhooks: ReadonlyMap<string, Webhook>;
}

/** Counts the decisions of an authorizer. */
const counted = (
  of: ConfiguredAuthorizer,
  authorizer: Authorizer,
  { observe }: Pick<Host<'pool'>, 'observe'>,
): Authorizer => ({
  ...authorizer,
  async authorize(user, target) {
    const decided = await authorizer.authorize(user, target);
    const decision = decided.is === 'allow' ? 'allowed' : 'denied';
    const labels = { type: of.type, name: of.name, decision };
    if (decided.is !== 'noOpinion') observe('apiserver_authorization_decisions_total', labels, 1);
    return decided;
  },
});

/** Decides by the authorizers of an authorization file, in their order. Webhooks that stay keep their connections. */
export function chainAuthorizer(fixed: FixedAuthorizers, host: AccessWebhookHost): Authorizer {
  const service = host.service(CHAIN_SERVICE);
  let current: Prepared | undefined;
  let running: Promise<Prepared> | undefined;
  let isClosed = false;
  host.onClose(() => {
    isClosed = true;
    closeAll(current?.webhooks.values() ?? []);
  });

  async function makeWebhook(config: Extract<ConfiguredAuthorizer, { type: 'Webhook' }>['webhook']): Promise<Webhook> {
    const releases: (() => unknown)[] = [];
    const { now, log, naming, service: serviceOf, observe, isEnabled } = host;
    const onClose = (release: () => unknown): void => void releases.push(release);
    const own = { now, log, naming, service: serviceOf, observe, isEnabled, onClose };
    const conditions = await conditionsOf(config.name, config.matchConditions, host);
    const authorizer = webhookAuthorizer(config, own, conditions);
    const close = (): void => {
      for (const release of releases) release();
    };
    return { authorizer, close };
  }

  /** The webhooks of a state by their configuration. Those that are used already are kept. */
  async function webhooksOf(state: readonly ConfiguredAuthorizer[]): Promise<ReadonlyMap<string, Webhook>> {
    const kept = current?.webhooks;
    const webhooks = new Map<string, Webhook>();
    try {
      for (const one of state) {
        if (one.type !== 'Webhook') continue;
        const key = JSON.stringify(one.webhook);
        webhooks.set(key, kept?.get(key) ?? (await makeWebhook(one.webhook)));
      }
    } catch (error) {
      // Each request tries again: without this, unused webhooks would accumulate.
      closeAll(Array.from(webhooks).flatMap(([key, webhook]) => (kept?.has(key) ? [] : webhook)));
      throw error;
    }
    if (isClosed) closeAll(webhooks.values());
    return webhooks;
  }

  async function prepare(state: readonly ConfiguredAuthorizer[]): Promise<Prepared> {
    const webhooks = await webhooksOf(state);
    const inputs = state.map(one => {
      const made = one.type === 'Webhook' ? webhooks.get(JSON.stringify(one.webhook))!.authorizer : fixed.get(one.type);
      if (!made) throw new Error(`there is no authorizer of type ${one.type}`);
      const value = counted(one, made, host);
      return { plugin: one.name, value, failurePolicy: 'Fail' as const, call: <T>(call: () => T): T => call() };
    });
    const closed = [...(current?.webhooks ?? [])].flatMap(([key, webhook]) => (webhooks.has(key) ? [] : webhook));
    // Calls that run keep their connections.
    if (closed.length > 0) setTimeout(() => closeAll(closed), CLOSE_MS).unref();
    return { state, combined: authorizerPoint.combine(inputs), webhooks };
  }

  /** The authorizers of the current state of the service. */
  async function authorizers(): Promise<Authorization> {
    const state = (await service.state()) as readonly ConfiguredAuthorizer[];
    if (current?.state === state) return current.combined;
    // Requests that come meanwhile wait for the same preparation.
    running ??= prepare(state).finally(() => {
      running = undefined;
    });
    current = await running;
    // Callers that waited for this preparation may have come after a further change.
    return current.state === state ? current.combined : await authorizers();
  }

  return {
    dependsOn: 'never',
    async authorize(user, target) {
      const { decision, cacheFor, resources } = await (await authorizers()).authorize(user, target);
      if (cacheFor === 'never') return { ...decision, dependsOn: 'never' };
      // A decision is valid until the objects that it depends on change. A change of the file takes effect after this
      // time.
      const milliseconds = cacheFor === 'forever' ? REMEMBERED_MS : Math.min(cacheFor, REMEMBERED_MS);
      return { ...decision, dependsOn: { resources, milliseconds } };
    },
    rulesFor: async (user, namespace) => await (await authorizers()).rulesFor(user, namespace),
    explain: async (user, target) => joinExplanations(await (await authorizers()).explain(user, target)),
  };
}

/** The explanations of all authorizers of a file as one explanation: each rule names its authorizer. */
function joinExplanations(said: readonly ExplainedOpinion[]): Explanation {
  const grant = said.flatMap(({ explanation }) => explanation?.grant ?? []);
  const rules = said.flatMap(({ plugin, explanation }) =>
    (explanation?.rules ?? []).map(rule => ({ ...rule, source: `${plugin}: ${rule.source}` })),
  );
  return { rules, ...(grant.length > 0 && { grant }) };
}

function closeAll(webhooks: Iterable<Webhook>): void {
  for (const { close } of webhooks) close();
}
