import { useLayoutEffect, useRef } from 'preact/hooks';
import { type Path, pathText } from '../edit/yamlText.js';

/** The place of an item in its list. */
export interface ItemPlace {
  readonly index: number;
  readonly count: number;
  /** Moves the item by one place. */
  move(by: 1 | -1): void;
}

/** Moves an item up and down. The focus follows the item, so that the key can be pressed again. */
function MoveButtons({ place, name }: { readonly place: ItemPlace; readonly name: string }) {
  const { index, count, move } = place;
  const up = useRef<HTMLButtonElement>(null);
  const down = useRef<HTMLButtonElement>(null);
  const moved = useRef(0);
  useLayoutEffect(() => {
    if (moved.current === 0) return;
    const [same, other] = moved.current < 0 ? [up.current, down.current] : [down.current, up.current];
    moved.current = 0;
    // At an end of the list, the same button has no further effect.
    (same?.disabled ? other : same)?.focus();
  }, [index]);
  const button = (ref: typeof up, by: 1 | -1, isDisabled: boolean) => (
    <button
      ref={ref}
      type="button"
      class="button plain small"
      aria-label={`Move ${name} ${by < 0 ? 'up' : 'down'}`}
      disabled={isDisabled}
      onClick={() => {
        moved.current = by;
        move(by);
      }}
    >
      <span aria-hidden="true">{by < 0 ? '↑' : '↓'}</span>
    </button>
  );
  return (
    <>
      {button(up, -1, index === 0)}
      {button(down, 1, index === count - 1)}
    </>
  );
}

const CONTROLS = 'summary, input:enabled, select:enabled, textarea:enabled';

/**
 * The control that gets the focus when the field of a button is removed: that of the next field, of the previous one,
 * or of the group that contains them.
 */
function neighbourOf(button: HTMLElement): HTMLElement | null | undefined {
  const field = button.closest('.form-group, .form-field');
  const controlIn = (element: Element | null | undefined) => element?.querySelector<HTMLElement>(CONTROLS);
  return (
    controlIn(field?.nextElementSibling) ??
    controlIn(field?.previousElementSibling) ??
    controlIn(field?.parentElement?.closest('.form-group'))
  );
}

/** The buttons for operations on a whole field. */
export function FieldButtons(props: {
  readonly path: Path;
  readonly isReadOnly: boolean;
  readonly remove: (() => void) | undefined;
  readonly place?: ItemPlace;
}) {
  const { path, isReadOnly, remove, place } = props;
  if (isReadOnly || !remove) return null;
  const name = pathText(path);
  const press = (event: { readonly currentTarget: HTMLElement }): void => {
    const neighbour = neighbourOf(event.currentTarget);
    remove();
    neighbour?.focus();
  };
  return (
    <div class="row">
      {place && place.count > 1 && <MoveButtons place={place} name={name} />}
      <button type="button" class="button plain small" aria-label={`Remove ${name}`} onClick={press}>
        Remove
      </button>
    </div>
  );
}
