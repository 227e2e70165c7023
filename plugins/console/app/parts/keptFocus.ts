import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/**
 * Gives the focus to an element when the part of the page that had it closes: without this, users of the keyboard would
 * begin at the top again. A focus elsewhere is not moved.
 */
export function useKeptFocus(element: RefObject<HTMLElement | null>, isOpen: boolean): void {
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    if (wasOpen.current && !isOpen && document.activeElement === document.body)
      element.current?.focus({ preventScroll: true });
    wasOpen.current = isOpen;
  }, [isOpen]);
}
