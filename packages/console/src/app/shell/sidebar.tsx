/** Navigation: the pages of a Ferryhook user or of an operator, what needs attention, and who is signed in. */
import { signal } from '@preact/signals'
import { operator } from '../api/operator-session.ts'
import { user } from '../api/user-session.ts'
import { Icon, Mark } from '../parts/icon.tsx'
import { groupsOf, type PageEntry, type Side } from '../pages.ts'
import { path } from '../router.ts'
import { MOD_LABEL } from './keyboard.ts'
import { isPaletteOpen } from './palette.tsx'
import { WhoMenu } from './who-menu.tsx'

export const isMenuOpen = signal(false)

export interface Badge {
  text: string
  tone?: 'bad' | 'warn'
}

/** What needs attention, by the address of the page: `badges.value = { ...badges.value, '/events': … }`. */
export const badges = signal<Readonly<Record<string, Badge | undefined>>>({})

export function Sidebar({ side }: { side: Side }) {
  return (
    <aside class={isMenuOpen.value ? 'side is-open' : 'side'} id="side" aria-label="Navigation">
      <div class="side-head">
        <a class="brand" href={side === 'user' ? '/console/overview' : '/console/server'}>
          <Mark />
          <span>{side === 'user' ? 'Ferryhook' : 'Strongroom'}</span>
        </a>
        {side === 'operator' && <span class="tag push">Operator</span>}
      </div>
      <button class="jump" type="button" onClick={() => (isPaletteOpen.value = true)}>
        <Icon name="search" />
        <span>Search or go to…</span>
        <span class="push">
          <kbd>{MOD_LABEL}</kbd>
          <kbd>K</kbd>
        </span>
      </button>
      <nav class="side-nav" aria-label="Pages">
        {groupsOf(side).map(({ title, pages }) => (
          <div class="side-group" key={title}>
            {title !== '' && <h2 class="side-title">{title}</h2>}
            <ul>
              {pages.map((page) => (
                <li key={page.path}>
                  <NavLink page={page} />
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div class="side-foot">
        <WhoMenu
          name={(side === 'user' ? user.value?.email : operator.value?.name) ?? ''}
          detail={side === 'user' ? planOf(user.value?.plan) : (operator.value?.role ?? '')}
          side={side}
        />
      </div>
    </aside>
  )
}

function planOf(plan: string | undefined): string {
  return plan === undefined ? '' : `${plan.charAt(0).toUpperCase()}${plan.slice(1)} plan`
}

function NavLink({ page }: { page: PageEntry }) {
  const badge = badges.value[page.path]
  const isCurrent =
    path.value === page.path || (page.path !== '/server' && path.value.startsWith(`${page.path}/`))
  return (
    <a
      class="nav"
      href={`/console${page.path}`}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={() => (isMenuOpen.value = false)}
    >
      <Icon name={page.icon ?? 'audit'} />
      <span>{page.title}</span>
      {badge && (
        <span class={`nav-count${badge.tone ? ` is-${badge.tone}` : ''}`}>{badge.text}</span>
      )}
    </a>
  )
}
