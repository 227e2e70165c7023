import { ConfigError } from '../../api/point.js';
import { recordsAt, stringAt, type UnknownRecord, valueAt } from '../../model/record.js';
import { namingOf, type Naming } from '../../naming.js';
import { monotonicTime } from '../../runtime/clock.js';
import { delay } from '../../runtime/timers.js';
import { parseArguments, refuseOperands } from '../arguments.js';
import { pathIn, ServedKinds } from '../client/kinds.js';
import { printedName } from '../client/printed.js';
import { AnswerError, ApiClient, serverOf } from '../client/request.js';
import { flagsOf } from '../commands.js';
import { WebsiteController } from '../demo/controller.js';
import { Traffic } from '../demo/traffic.js';
import * as world from '../demo/world.js';
import type { Io } from '../serve.js';
import { eraseProgress, withProgress } from '../terminal/progress.js';
import { type Style, styleOf } from '../terminal/style.js';
import { applyObject, GrowingKinds } from './apply.js';

const OPTIONS = { fieldManager: 'capstan-demo', force: true };
/** How long the server may take to remove the content of the objects of the demonstration. */
const REMOVAL_MS = 60_000;
const AGAIN_MS = 100;

/** Creates the objects of the demonstration on a server. */
class Demonstration {
  readonly kinds: GrowingKinds;
  readonly style: Style = styleOf();

  constructor(
    readonly client: ApiClient,
    readonly naming: Naming,
    readonly io: Io,
  ) {
    this.kinds = new GrowingKinds(client);
  }

  /** Applies objects, and prints one line about them. */
  async make(what: string, objects: readonly object[]): Promise<void> {
    await withProgress(what, this.#apply(objects as readonly UnknownRecord[]));
    this.io.out(`${this.style.good('✓')} ${what}`);
  }

  async #apply(objects: readonly UnknownRecord[]): Promise<void> {
    for (const object of objects) {
      const kind = await this.kinds.of(object);
      const path = pathIn(kind, stringAt(object, 'metadata', 'namespace'), stringAt(object, 'metadata', 'name'));
      const before = await this.client.get(path);
      if (before && !isOurs(before))
        throw new Error(`${printedName(object, kind)} is there already, and is not of the demonstration: rename it`);
      await applyObject(this.client, path, object, OPTIONS);
      this.kinds.note(object);
    }
  }

  /**
   * Removes objects if they belong to the demonstration, and waits until they no longer exist. Resolves with their
   * number.
   */
  async remove(objects: readonly object[]): Promise<number> {
    const removed = new Map<string, string>();
    for (const object of objects as readonly UnknownRecord[]) {
      const kind = await this.kinds.of(object);
      const path = pathIn(kind, '', stringAt(object, 'metadata', 'name'));
      const found = await this.client.get(path);
      if (!found || !isOurs(found)) continue;
      await this.client.send('DELETE', path);
      removed.set(path, printedName(object, kind));
    }
    await withProgress('waiting until the objects are gone', untilGone(this.client, [...removed.keys()]));
    for (const name of removed.values()) this.io.out(`${this.style.good('✓')} removed ${name}`);
    return removed.size;
  }

  /** Shows that the policy refuses an image without a version. */
  async refuse(): Promise<void> {
    const object = world.refusedDeployment(world.TEAMS[0]!) as UnknownRecord;
    const kind = await this.kinds.of(object);
    const path = pathIn(kind, stringAt(object, 'metadata', 'namespace'));
    try {
      await this.client.ask({ method: 'POST', path: `${path}?dryRun=All`, object });
    } catch (error) {
      if (!(error instanceof AnswerError)) throw error;
      this.io.out(`  ${this.style.bad('refused, as it should be:')} ${error.message}`);
      return;
    }
    throw new Error('the policy of the demonstration did not refuse an image without a version');
  }
}

const isOurs = (object: UnknownRecord): boolean =>
  valueAt(object, 'metadata', 'labels', world.DEMO_LABEL) === world.DEMO_VALUE;

async function build(demonstration: Demonstration): Promise<void> {
  const { naming } = demonstration;
  const { TEAMS } = world;
  const names = TEAMS.map(({ namespace }) => namespace).join(' and ');
  await demonstration.make(
    `two teams with roles and quotas, in the namespaces ${names}`,
    TEAMS.flatMap(team => world.teamObjects(team, naming)),
  );
  await demonstration.make(
    `apps with Deployments, Services and settings: ${TEAMS.flatMap(({ apps }) => apps.map(({ name }) => name)).join(', ')}`,
    TEAMS.flatMap(world.appObjects),
  );
  await demonstration.make('a policy: images of Deployments must have a version', world.policyObjects(naming));
  await demonstration.refuse();
  await demonstration.make('a kind of its own, Website, and one of each team', [
    world.websiteDefinition(naming),
    ...TEAMS.map(world.websiteObject),
  ]);
}

/** Runs the controller and the traffic: for one round, or until Ctrl-C. */
async function live(demonstration: Demonstration, isOnce: boolean): Promise<void> {
  const { client, io, style } = demonstration;
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  process.once('SIGINT', interrupt);
  const print = (line: string): void => {
    eraseProgress();
    io.out(line);
  };
  const controller = new WebsiteController(client, line => print(`${style.good('✓')} ${line}`));
  const running = controller.run(stop.signal);
  const traffic = new Traffic(client);
  const work = async (): Promise<void> => {
    await controller.until(world.TEAMS.length);
    if (isOnce) return await traffic.round(0, stop.signal, false);
    for (const line of nextSteps(style)) print(line);
    for (let number = 1; !stop.signal.aborted; number++) await traffic.round(number, stop.signal);
  };
  const counts = (): string => `${traffic.sent} requests, ${traffic.refused} of them refused; Ctrl-C ends`;
  // The controller ends earlier only if it fails.
  await withProgress(counts, Promise.race([work(), running])).finally(() => {
    process.off('SIGINT', interrupt);
    stop.abort();
  });
  io.out(`${style.good('✓')} traffic: ${traffic.sent} requests of both teams, ${traffic.refused} of them refused`);
  if (isOnce) for (const line of nextSteps(style).slice(0, -2)) io.out(line);
}

const nextSteps = (style: Style): string[] => [
  '',
  style.faint('look around, in another terminal:'),
  `  ${style.command('npx capstan get websites -A')}`,
  `  ${style.command('npx capstan watch deployments -n demo-storefront')}`,
  `  ${style.command('npx capstan top')}`,
  `  ${style.command('npx capstan demo --remove')}`,
  '',
  'the controller and the traffic run until Ctrl-C; the objects stay',
];

/**
 * Removes the objects of the demonstration, and waits until they no longer exist: namespaces before the kind in them.
 */
async function remove(demonstration: Demonstration): Promise<void> {
  const { naming, io } = demonstration;
  const namespaces = world.TEAMS.map(team => world.teamObjects(team, naming)[0]!);
  const removed =
    (await demonstration.remove([...world.policyObjects(naming).reverse(), ...namespaces])) +
    (await demonstration.remove([world.websiteDefinition(naming)]));
  if (removed === 0) io.out('there is nothing of the demonstration on this server');
}

async function untilGone(client: ApiClient, paths: readonly string[]): Promise<void> {
  const until = monotonicTime() + REMOVAL_MS;
  for (const path of paths)
    for (let found = await client.get(path); found; found = await client.get(path)) {
      if (monotonicTime() > until) {
        const message = recordsAt(found, 'status', 'conditions').map(condition => stringAt(condition, 'message'));
        throw new Error(`${path} is still there: ${message.filter(Boolean).join('; ') || 'look at its finalizers'}`);
      }
      await delay(AGAIN_MS);
    }
}

/** Throws Error if the server is another program: the demonstration must not run in clusters that are in use. */
async function checkServer(client: ApiClient): Promise<void> {
  const { body } = await client.ask({ method: 'GET', path: '/version' });
  if (stringAt(body, 'goVersion').startsWith('node')) return;
  throw new Error(
    `${client.access.server} is not Capstan: name the kubeconfig of a Capstan server with --kubeconfig, or its --data-dir`,
  );
}

/**
 * `capstan demo`: fills a server with a small world, and runs a controller and some traffic until it is interrupted.
 * Returns the exit code. Rejects if the server refuses something that it should not.
 */
export async function demoCommand(args: readonly string[], io: Io): Promise<number> {
  const parsed = parseArguments(args, flagsOf('demo'));
  refuseOperands('demo', parsed);
  const { values } = parsed;
  const { once: isOnce, remove: isRemoval } = values;
  if (isOnce && isRemoval) throw new ConfigError('--remove', 'cannot be used with --once: omit one of them');
  const access = serverOf(values);
  try {
    const client = new ApiClient(access);
    await checkServer(client);
    const { naming } = await ServedKinds.of(client);
    const demonstration = new Demonstration(client, namingOf(naming), io);
    if (isRemoval) await remove(demonstration);
    else {
      await build(demonstration);
      await live(demonstration, isOnce === true);
    }
    return 0;
  } finally {
    access.close();
  }
}
