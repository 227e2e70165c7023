import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../core/api/point.js';
import { loadSettings, parseConfig } from '../../core/command/config.js';
import { featureStates } from '../../core/features/gates.js';
import { GATES } from '../../core/features/table.js';
import { builtInRegistry } from '../../core/plugin/registry.js';
import { RELEASE } from '../../core/release.js';
import { isInRelease } from '../../core/schema/registry/enablement.js';
import { groupRows } from '../../core/schema/table/resources.js';
import { builtInStorageNames } from '../../core/schema/table/storageNames.js';
import { namingOf } from '../../core/naming.js';
import { admissionPlugins } from '../../core/server/admission/plugins.js';
import { checkFeatures, featuresOf, featureWarnings } from '../../core/server/features.js';

/* Flags that name features, served APIs and admission plugins. The refusals are those of release 1.32. */

const settingsOf = (...flags: string[]) => loadSettings(['--naming=kubernetes', ...flags]);
const refusal = (...flags: string[]): string => {
  try {
    checkFeatures(settingsOf(...flags));
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error('accepted');
};
const featuresWith = (...flags: string[]): readonly string[] => featuresOf(settingsOf(...flags)).features;
const warningsWith = (...flags: string[]): readonly string[] => featureWarnings(settingsOf(...flags));

describe('--feature-gates', () => {
  it('refuses the gate of several service networks without the kinds that it needs', () => {
    const gate = '--feature-gates=MultiCIDRServiceAllocator=true';
    expect(() => checkFeatures(settingsOf(gate))).toThrow('add --runtime-config=networking.k8s.io/v1beta1=true');
    const config = '--runtime-config=networking.k8s.io/v1beta1=true';
    expect(checkFeatures(settingsOf(gate, config)).featureGates).toEqual(['MultiCIDRServiceAllocator=true']);
  });

  it('has alpha gates off and beta gates on, unless the release says otherwise [R420] [R421]', () => {
    const features = featuresWith();
    expect(features).toContain('AuthorizeNodeWithSelectors');
    expect(features).not.toContain('DynamicResourceAllocation');
    expect(features).not.toContain('MutatingAdmissionPolicy');
    const unusual = [...GATES].filter(([, { stage, isOnByDefault }]) => stage === 'alpha' && isOnByDefault);
    expect(unusual.map(([name]) => name)).toEqual(['WindowsHostNetwork']);
  });

  it('turns gates on and off, one by one or by their stage; the last value of a gate counts [R422]', () => {
    expect(featuresWith('--feature-gates=WatchList=false')).not.toContain('WatchList');
    expect(featuresWith('--feature-gates=ImageVolume=true')).toContain('ImageVolume');
    expect(featuresWith('--feature-gates=kube:ImageVolume=T')).toContain('ImageVolume');
    expect(featuresWith('--feature-gates=ImageVolume=true', '--feature-gates', 'ImageVolume=false')).not.toContain(
      'ImageVolume',
    );
    const all = featuresWith('--feature-gates=AllAlpha=true,ImageVolume=false');
    expect(all).toContain('MutatingAdmissionPolicy');
    expect(all).not.toContain('ImageVolume');
    expect(featuresWith('--feature-gates=AllBeta=false')).not.toContain('WatchList');
    expect(featuresWith('--feature-gates=')).toEqual(featuresWith());
  });

  it('can be a mapping or a list in the configuration file', () => {
    expect(parseConfig('featureGates: { ImageVolume: true, WatchList: false }', '.').featureGates).toEqual([
      'ImageVolume=true',
      'WatchList=false',
    ]);
    expect(parseConfig('runtimeConfig: [apps/v1=false]', '.').runtimeConfig).toEqual(['apps/v1=false']);
  });

  it('warns of gates that a later release removes [R404] [R423]', () => {
    expect(warningsWith('--feature-gates=WatchBookmark=true,KMSv1=true,WatchList=true')).toEqual([
      'Setting GA feature gate WatchBookmark=true. It will be removed in a future release.',
      'Setting deprecated feature gate KMSv1=true. It will be removed in a future release.',
    ]);
  });

  it.each([
    ['Foo=true', 'unrecognized feature gate: Foo'],
    ['CustomResourceValidationExpressions=true', 'unrecognized feature gate: CustomResourceValidationExpressions'],
    ['constructor=true', 'unrecognized feature gate: constructor'],
    [
      'PodSchedulingReadiness=false',
      'cannot set feature gate PodSchedulingReadiness to false, feature is locked to true',
    ],
    [
      'AllowServiceLBStatusOnNonLB=true',
      'cannot set feature gate AllowServiceLBStatusOnNonLB to true, feature is locked to false',
    ],
    ['WatchList', 'missing bool value for WatchList'],
    ['WatchList=yes', 'invalid value of WatchList=yes, err: strconv.ParseBool: parsing "yes": invalid syntax'],
    [
      'AuthorizeWithSelectors=false',
      'AuthorizeNodeWithSelectors feature requires AuthorizeWithSelectors feature to be enabled',
    ],
    [
      'UnknownVersionInteroperabilityProxy=true',
      'UnknownVersionInteroperabilityProxy feature requires StorageVersionAPI feature flag to be enabled',
    ],
    ['wardle:WatchList=true', 'component not registered: wardle'],
    [
      'kube:WatchList=true,ImageVolume=true',
      'set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use',
    ],
  ])('refuses %s at the start [R355] [R424]', (gates, message) => {
    expect(refusal(`--feature-gates=${gates}`)).toBe(`--feature-gates: ${message}`);
  });
});

describe('the version of a configuration file [R427]', () => {
  const file = (version: string, ...lines: string[]): string =>
    [version, 'kind: ServerConfiguration', ...lines].join('\n');

  it('may be given: v1 names settings like flags, v1beta1 as in the library', () => {
    const notes: string[] = [];
    const read = (text: string) => parseConfig(text, '.', line => notes.push(line));
    const settings = { port: 1, storage: 'memory', historyRetention: 60_000 };
    expect(read(file('apiVersion: capstan/v1', 'securePort: 1', 'storageBackend: memory', 'history: 1m'))).toEqual(
      settings,
    );
    expect(read('securePort: 1\nstorageBackend: memory\nhistory: 1m')).toEqual(settings);
    expect(notes).toEqual([]);
    expect(read(file('apiVersion: capstan/v1beta1', 'port: 1', 'storage: memory', 'historyRetention: 1m'))).toEqual(
      settings,
    );
    expect(notes).toEqual([
      'capstan/v1beta1 ServerConfiguration is deprecated; use capstan/v1 ServerConfiguration, where settings are named ' +
        'like flags',
    ]);
  });

  it.each([
    [
      'apiVersion: capstan/v2\nkind: ServerConfiguration',
      'apiVersion: must be capstan/v1 or capstan/v1beta1, not "capstan/v2"',
    ],
    ['kind: ServerConfiguration', 'apiVersion: must be capstan/v1 or capstan/v1beta1, not absent'],
    ['apiVersion: capstan/v1', 'kind: must be ServerConfiguration, not absent'],
    ['apiVersion: capstan/v1\nkind: Other', 'kind: must be ServerConfiguration, not "Other"'],
    [file('apiVersion: capstan/v1beta1', 'securePort: 1'), 'securePort: unknown setting; did you mean port?'],
    [file('apiVersion: capstan/v1', 'port: 1'), 'port: unknown setting; did you mean securePort?'],
    [file('apiVersion: capstan/v1', 'securePort: 1', 'securePort: 2'), 'Map keys must be unique'],
  ])('is checked strictly: %j', (text, message) => {
    expect(() => parseConfig(text, '.')).toThrow(message);
  });
});

describe('--runtime-config', () => {
  const served = (...flags: string[]) => {
    const { enablement } = featuresOf(settingsOf(...flags));
    // Kinds that are not served also have strategies.
    const strategies = new Map(Array.from(builtInStorageNames(), name => [name, {}]));
    const registry = builtInRegistry('kubernetes', strategies, enablement);
    return (group: string, version: string, plural: string) => registry.find(group, version, plural) !== undefined;
  };

  it('enables versions that are off by default, and disables others [R369] [R376] [R377] [R378]', () => {
    const isServed = served('--runtime-config=storage.k8s.io/v1alpha1,batch/v1=false,v1=true');
    expect(isServed('storage.k8s.io', 'v1alpha1', 'volumeattributesclasses')).toBe(true);
    expect(isServed('batch', 'v1', 'jobs')).toBe(false);
    expect(isServed('', 'v1', 'pods')).toBe(true);
    expect(served('--runtime-config=batch/v2alpha1')('batch', 'v1', 'jobs')).toBe(true);
  });

  it('addresses single resources [R379]', () => {
    const isServed = served('--runtime-config=apps/v1/deployments=false,v1/secrets=false');
    expect(isServed('apps', 'v1', 'deployments')).toBe(false);
    expect(isServed('apps', 'v1', 'daemonsets')).toBe(true);
    expect(isServed('', 'v1', 'secrets')).toBe(false);
    const one = served('--runtime-config=resource.k8s.io/v1alpha3/resourceclaims=true');
    expect(one('resource.k8s.io', 'v1alpha3', 'resourceclaims')).toBe(true);
    expect(one('resource.k8s.io', 'v1alpha3', 'resourceslices')).toBe(false);
  });

  it('addresses all versions of a stability; single versions have priority', () => {
    const isServed = served('--runtime-config=api/all=false,api/ga=true,apps/v1=false');
    expect(isServed('', 'v1', 'pods')).toBe(true);
    expect(isServed('apps', 'v1', 'deployments')).toBe(false);
    expect(served('--runtime-config=api/alpha=true')('storage.k8s.io', 'v1alpha1', 'volumeattributesclasses')).toBe(
      true,
    );
  });

  it('serves every kind of the table with api/all', () => {
    const isServed = served('--runtime-config=api/all=true');
    const naming = namingOf('kubernetes');
    const missing = groupRows().flatMap(({ name, versions }) =>
      versions.flatMap(({ version, resources }) =>
        resources
          .filter(row => isInRelease(row, Number(RELEASE.minor)) && !isServed(naming.group(name), version, row.plural))
          .map(({ plural }) => `${name}/${version}/${plural}`),
      ),
    );
    expect(missing).toEqual([]);
  });

  it('accepts versions that earlier releases had, without effect', () => {
    for (const gone of ['flowcontrol.apiserver.k8s.io/v1beta3', 'extensions/v1beta1', 'policy/v1beta1'])
      expect(() => checkFeatures(settingsOf(`--runtime-config=${gone}=true`))).not.toThrow();
  });

  it.each([
    ['apps', 'runtime-config invalid key apps'],
    ['v2=true', 'runtime-config invalid key v2'],
    ['a=b=c', 'runtime-config invalid key a'],
    ['apps/v1/deployments/scale', 'runtime-config invalid key apps/v1/deployments/scale'],
    ['apps/v1,foo/v1,bar/v1', 'unknown api groups bar,foo'],
    ['api/foo=true', 'unknown api groups api'],
    ['apps/v9', 'group version apps/v9 that has not been registered'],
    ['apps/v1=maybe', 'invalid value of apps/v1: maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax'],
    ['api/all=false', 'invalid key with only api/all=false'],
    ['api/beta=maybe', 'invalid value api/beta=maybe'],
  ])('refuses %s at the start', (apis, message) => {
    expect(refusal(`--runtime-config=${apis}`)).toBe(`--runtime-config: ${message}`);
  });
});

describe('--emulated-version', () => {
  it('has the gates of the emulated release, with their states in that release', () => {
    const now = featuresWith();
    const then = featuresWith('--emulated-version=1.31');
    expect(now.filter(name => !then.includes(name))).toEqual(
      expect.arrayContaining(['AuthorizeWithSelectors', 'BtreeWatchCache', 'StrictCostEnforcementForVAP', 'WatchList']),
    );
    expect(then.filter(name => !now.includes(name))).toEqual([]);
    expect(featuresWith('--emulated-version=1.31', '--feature-gates=WatchList=true')).toContain('WatchList');
    expect(featuresWith('--emulated-version=1.31', '--feature-gates=ComponentSLIs=false')).not.toContain(
      'ComponentSLIs',
    );
    expect(featuresWith('--emulated-version=1.31', '--feature-gates=AllAlpha=true')).not.toContain('PodLevelResources');
    expect(warningsWith('--emulated-version=1.31', '--feature-gates=MemoryManager=true')).toEqual([]);
  });

  it('does not serve versions of later releases even if they are enabled, and warns as that release', () => {
    const registryOf = (...flags: string[]) => {
      const { enablement } = featuresOf(settingsOf('--runtime-config=api/all=true', ...flags));
      return builtInRegistry('kubernetes', new Map(), enablement);
    };
    const [now, then] = [registryOf(), registryOf('--emulated-version=1.31')];
    const onlyIn = (one: typeof now, other: typeof now): string[] =>
      groupRows().flatMap(({ name, versions }) =>
        versions.flatMap(({ version, resources }) =>
          resources
            .map(({ plural }) => [namingOf('kubernetes').group(name), version, plural] as const)
            .filter(names => one.find(...names) && !other.find(...names))
            .map(names => names.join('/')),
        ),
      );
    expect(onlyIn(then, now)).toEqual([
      'authentication.k8s.io/v1alpha1/selfsubjectreviews',
      'admissionregistration.k8s.io/v1alpha1/validatingadmissionpolicies',
      'admissionregistration.k8s.io/v1alpha1/validatingadmissionpolicybindings',
      'flowcontrol.apiserver.k8s.io/v1beta3/flowschemas',
      'flowcontrol.apiserver.k8s.io/v1beta3/prioritylevelconfigurations',
    ]);
    expect(onlyIn(now, then)).toEqual([
      'admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicies',
      'admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicybindings',
      'coordination.k8s.io/v1alpha2/leasecandidates',
      'resource.k8s.io/v1beta1/deviceclasses',
      'resource.k8s.io/v1beta1/resourceclaims',
      'resource.k8s.io/v1beta1/resourceclaimtemplates',
      'resource.k8s.io/v1beta1/resourceslices',
    ]);
    const classes = ['storage.k8s.io', 'v1alpha1', 'volumeattributesclasses'] as const;
    expect(now.find(...classes)?.warning).toContain('deprecated in v1.32+, unavailable in v1.35+');
    expect(then.find(...classes)?.warning).toBeUndefined();
  });

  it.each(['', '1.32', 'v1.32', 'kube=1.31', '1.31.0', '1.31.0-alpha.1'])('can be %j', version => {
    expect(() => checkFeatures(settingsOf(`--emulated-version=${version}`))).not.toThrow();
  });

  it.each([
    ['1.30', 'emulation version 1.30 is not between [1.31, 1.32.0]'],
    ['1.33', 'emulation version 1.33 is not between [1.31, 1.32.0]'],
    ['2.31', 'emulation version 2.31 is not between [1.31, 1.32.0]'],
    ['1.31.5', 'patch version not allowed, got: kube=1.31.5'],
    ['foo=1.31', 'component not registered: foo'],
    ['kube=1.31,1.32', 'duplicate version flag, kube=1.31 and kube=1.32'],
    ['1.x', 'illegal version string "1.x": write it as kube=1.31'],
    ['1', 'illegal version string "1": write it as kube=1.31'],
  ])('is refused at the start if it is %s', (version, message) => {
    expect(refusal(`--emulated-version=${version}`)).toBe(`--emulated-version: ${message}`);
  });

  it('shows the gates of the emulated release, without those that it does not have', () => {
    const shown = new Map(featureStates(['AllBeta', 'WatchList'], 31).map(one => [one.name, one]));
    expect(shown.get('WatchList')).toEqual({ name: 'WatchList', stage: 'alpha', isEnabled: true });
    expect(shown.get('AllBeta')).toEqual({ name: 'AllBeta', stage: 'beta', isEnabled: true });
    expect(shown.get('MutatingAdmissionPolicy')).toBeUndefined();
  });

  it('refuses gates that the emulated release does not have', () => {
    expect(refusal('--emulated-version=1.31', '--feature-gates=MutatingAdmissionPolicy=true')).toBe(
      '--feature-gates: cannot set feature gate MutatingAdmissionPolicy to true, feature is PreAlpha at emulated ' +
        'version 1.31',
    );
  });
});

describe('admission plugins', () => {
  const paths = (...flags: string[]) =>
    admissionPlugins(settingsOf(...flags)).before.map(({ use }) => use.split('/').at(-1));

  it('are those that are enabled by default, without those that are disabled', () => {
    expect(paths()).toContain('priority.js');
    expect(paths('--disable-admission-plugins=Priority,RuntimeClass')).not.toContain('priority.js');
  });

  it('that are deprecated can be named, with a warning', () => {
    expect(warningsWith('--enable-admission-plugins=EventRateLimit,AlwaysAdmit')).toEqual([
      'AlwaysAdmit admission controller is deprecated. Please remove this controller from your configuration files and scripts.',
    ]);
    expect(warningsWith('--disable-admission-plugins=Priority', '--enable-admission-plugins=')).toEqual([]);
  });

  it.each([
    [
      ['--enable-admission-plugins=PodSecurityPolicy'],
      'enable-admission-plugins plugin "PodSecurityPolicy" is unknown',
    ],
    [['--disable-admission-plugins=priority'], 'disable-admission-plugins plugin "priority" is unknown'],
    [
      ['--enable-admission-plugins=A,B', '--disable-admission-plugins=C'],
      '[enable-admission-plugins plugin "A" is unknown, enable-admission-plugins plugin "B" is unknown, ' +
        'disable-admission-plugins plugin "C" is unknown]',
    ],
    [
      ['--enable-admission-plugins=Priority', '--disable-admission-plugins=Priority'],
      '[Priority] in enable-admission-plugins and disable-admission-plugins overlapped',
    ],
  ])('are refused for %j at the start [R482]', (flags, message) => {
    expect(refusal(...flags)).toMatch(/^--(enable|disable)-admission-plugins: /);
    expect(refusal(...flags).replace(/^\S+: /, '')).toBe(message);
  });
});

describe('flags for connections to node agents', () => {
  it('are accepted and reported, unless their value is invalid', () => {
    const notes: string[] = [];
    loadSettings(['--kubelet-timeout=5s', '--kubelet-client-key', 'x.pem'], line => notes.push(line));
    expect(notes).toEqual([
      '--kubelet-timeout has no effect: the server does not connect to node agents',
      '--kubelet-client-key has no effect: the server does not connect to node agents',
    ]);
    expect(() => loadSettings(['--kubelet-timeout=x'])).toThrow('--kubelet-timeout: must be a duration');
    expect(() => loadSettings(['--kubelet-https=true'])).toThrow('unknown flag');
  });
});
