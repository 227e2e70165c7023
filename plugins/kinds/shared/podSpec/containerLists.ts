/** The members of a pod spec with containers, in the order of validation. */
export const CONTAINER_LISTS = ['containers', 'initContainers', 'ephemeralContainers'] as const;
