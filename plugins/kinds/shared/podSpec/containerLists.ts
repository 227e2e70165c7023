/** The members of a pod spec with containers, in the order of validation. */
export const CONTAINER_LISTS = ['containers', 'initContainers', 'ephemeralContainers'] as const;

/** The same, in the order in which upstream visits the containers for rules and warnings about all of them. */
export const VISITED_CONTAINERS = ['initContainers', 'containers', 'ephemeralContainers'] as const;
