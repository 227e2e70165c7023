/** Descriptions of fields that mean the same in all types; README.md explains the form. */
export const SHARED_DESCRIPTIONS = `
* Fields that mean the same in all types
 metadata Name, namespace, labels, annotations and the bookkeeping of the server, as every object has them.
 lastTransitionTime When the status of the condition last changed from one value to another.
 lastUpdateTime When this condition was last written, even if its status stayed the same.
 lastProbeTime When the condition was last checked, even if it did not change.
 reason Machine-readable cause of the last change, one word in CamelCase.
 message Explanation for people of the last change or of the current state.
 observedGeneration The metadata.generation that the controller had seen when it wrote this status. If it is lower than
  the current one, the status is out of date.
 fsType File system to mount, such as "ext4" or "xfs". The node must support it. If it is empty, the driver or "ext4"
  decides.
 readOnly Whether the volume is mounted for reading only. False by default.
`;
