import { pathOf } from '../../api/client/paths.js';
import { delay } from '../../runtime/timers.js';
import { AnswerError, type ApiClient, type ClientRequest } from '../client/request.js';
import { DEMO_GROUP, refusedDeployment, type Team, TEAMS } from './world.js';

/** Milliseconds between two requests. */
const PAUSE_MS = 100;
const MERGE = { 'content-type': 'application/merge-patch+json' };
const CONFIG_MAPS = { apiVersion: 'v1', plural: 'configmaps' };
const DEPLOYMENTS = { apiVersion: 'apps/v1', plural: 'deployments' };
const WEBSITES = { apiVersion: `${DEMO_GROUP}/v1`, plural: 'websites' };
const MOST_REPLICAS = 5;

type Sent = Omit<ClientRequest, 'timeoutMs'>;

/** The requests of the members in one round: reads and changes in their namespaces, and some that are refused. */
function requestsOf(round: number): Sent[] {
  const replicas = 2 + (round % (MOST_REPLICAS - 1));
  return TEAMS.flatMap((team, i) => {
    const other = TEAMS[(i + 1) % TEAMS.length]!;
    const { namespace, website, apps } = team;
    const settings = pathOf(CONFIG_MAPS, namespace, apps[0]!.name);
    return [
      { method: 'GET', path: pathOf(DEPLOYMENTS, namespace) },
      { method: 'GET', path: settings },
      { method: 'PATCH', path: settings, headers: MERGE, object: { data: { round: String(round) } } },
      { method: 'GET', path: pathOf(WEBSITES, namespace) },
      {
        method: 'PATCH',
        path: pathOf(WEBSITES, namespace, website.name),
        headers: MERGE,
        object: { spec: { replicas } },
      },
      { method: 'GET', path: pathOf(DEPLOYMENTS, other.namespace) },
      { method: 'POST', path: pathOf(DEPLOYMENTS, namespace), object: refusedDeployment(team) },
    ].map(request => ({ ...request, headers: { ...request.headers, ...senderOf(team) } }) as Sent);
  });
}

/** The headers with which the administrator sends a request of a member. */
const senderOf = ({ member, group }: Team) => ({ 'impersonate-user': member, 'impersonate-group': group });

/** Sends the requests of the teams, some of which are refused. */
export class Traffic {
  sent = 0;
  refused = 0;

  constructor(readonly client: ApiClient) {}

  /** Sends the requests of one round, with pauses unless `pause` is false. Ends between them when it is aborted. */
  async round(number: number, signal: AbortSignal, pause = true): Promise<void> {
    for (const request of requestsOf(number)) {
      if (signal.aborted) return;
      this.sent++;
      try {
        await this.client.ask(request);
      } catch (error) {
        if (!(error instanceof AnswerError)) throw error;
        this.refused++;
      }
      if (pause) await delay(PAUSE_MS);
    }
  }
}
