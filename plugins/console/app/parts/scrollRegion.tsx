import type { ComponentChildren } from 'preact';

/** A part of a page that scrolls, which the keyboard must reach for that. */
export function ScrollRegion(props: {
  readonly class: string;
  readonly label: string;
  /** `pre` for a text whose lines stay as they are. */
  readonly as?: 'div' | 'pre';
  readonly children: ComponentChildren;
}) {
  const { class: name, label, as: Tag = 'div', children } = props;
  return (
    <Tag class={name} role="region" aria-label={label} tabIndex={0}>
      {children}
    </Tag>
  );
}
