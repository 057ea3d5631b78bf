/** The bar of a page: title, a note such as a count, and its actions. Every page begins with one. */
import { useEffect } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import { Icon } from '../parts/icon.tsx'
import { isMenuOpen } from './sidebar.tsx'
import { isPaletteOpen } from './palette.tsx'

export function Bar(props: {
  title: string
  /** Where the page belongs: `{ label: 'Sources', href: '/console/sources' }`. */
  parent?: { label: string; href: string }
  note?: ComponentChildren
  /** At the right; one of them may be primary. */
  actions?: ComponentChildren
}) {
  const { title, parent, note, actions } = props
  useEffect(() => {
    document.title = `${title} · Strongroom console`
  }, [title])
  return (
    <header class="bar">
      <button
        class="menu-button button button-icon button-quiet"
        type="button"
        aria-label="Menu"
        title="Menu"
        aria-expanded={isMenuOpen.value}
        onClick={() => (isMenuOpen.value = !isMenuOpen.value)}
      >
        <Icon name="menu" />
      </button>
      {parent ? (
        <div class="crumbs">
          <a href={parent.href}>{parent.label}</a>
          <Icon name="right" />
          <h1>{title}</h1>
        </div>
      ) : (
        <h1>{title}</h1>
      )}
      {note !== undefined && <span class="bar-note">{note}</span>}
      <div class="bar-actions">
        <button
          class="search-button button button-icon button-quiet"
          type="button"
          aria-label="Search or go to"
          title="Search or go to"
          onClick={() => (isPaletteOpen.value = true)}
        >
          <Icon name="search" />
        </button>
        {actions}
      </div>
    </header>
  )
}
