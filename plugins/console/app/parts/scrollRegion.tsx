import type { ComponentChildren } from 'preact';

/** A part of a page that scrolls. It can be focused, so that it can be scrolled with the keyboard. */
export function ScrollRegion(props: {
  readonly class: string;
  readonly label: string;
  /** `pre` for a text whose line breaks are kept. */
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
