import { effect, signal } from '@preact/signals';

const KEY = 'console-theme';
const system = window.matchMedia('(prefers-color-scheme: dark)');

const isDarkSystem = signal(system.matches);
system.addEventListener('change', ({ matches }) => (isDarkSystem.value = matches));

const chosen = signal(localStorage.getItem(KEY));

/** Whether the console is dark: as the user has chosen, or as the system is. */
export const isDark = (): boolean => (chosen.value === null ? isDarkSystem.value : chosen.value === 'dark');

/** Changes between light and dark, for this browser. */
export function switchTheme(): void {
  chosen.value = isDark() ? 'light' : 'dark';
  localStorage.setItem(KEY, chosen.value);
}

/** Applies the theme to the document, now and after each change. */
export const followTheme = (): (() => void) =>
  effect(() => void (document.documentElement.dataset['theme'] = isDark() ? 'dark' : 'light'));
