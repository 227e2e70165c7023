import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/**
 * Gives the focus to an element when a part of the page closes that had it: without this, who uses the keyboard would
 * begin at the top again. A focus that is elsewhere stays there.
 */
export function useKeptFocus(element: RefObject<HTMLElement | null>, isOpen: boolean): void {
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    if (wasOpen.current && !isOpen && document.activeElement === document.body)
      element.current?.focus({ preventScroll: true });
    wasOpen.current = isOpen;
  }, [isOpen]);
}
