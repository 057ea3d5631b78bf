/** Who is signed in, with the ways to the account, to the other side of the console, and out. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { operator } from '../api/operator-session.ts'
import { signOut } from '../api/sign-out.ts'
import { user } from '../api/user-session.ts'
import { Icon } from '../parts/icon.tsx'
import type { Side } from '../pages.ts'
import { setTheme, theme } from './theme.ts'

export function WhoMenu(props: { name: string; detail: string; side: Side }) {
  const isOpen = useSignal(false)
  const ref = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const close = (event: Event) => {
      if (
        event instanceof KeyboardEvent
          ? event.key === 'Escape'
          : !ref.current?.contains(event.target as Node)
      )
        isOpen.value = false
    }
    addEventListener('pointerdown', close)
    addEventListener('keydown', close)
    return () => {
      removeEventListener('pointerdown', close)
      removeEventListener('keydown', close)
    }
  }, [])
  const { side } = props
  return (
    <div class="who-wrap" ref={ref}>
      {isOpen.value && (
        <div class="menu" id="who-menu">
          <ul>
            {side === 'user' && <MenuLink href="/console/account" icon="person" label="Account" />}
            {side === 'operator' && (
              <MenuLink href="/console/server/security" icon="shield" label="Your sign-in" />
            )}
            {side === 'user' && operator.value && (
              <MenuLink href="/console/server" icon="server" label="Server" />
            )}
            {side === 'operator' && user.value && (
              <MenuLink href="/console/overview" icon="ferryhook" label="Ferryhook" />
            )}
            <MenuLink href="/docs" icon="audit" label="Documentation" />
            <li>
              <label class="menu-item">
                <Icon name="sliders" />
                <span>Theme</span>
                <select
                  class="select push"
                  value={theme.value}
                  onChange={(event) => setTheme(event.currentTarget.value)}
                >
                  <option value="system">System</option>
                  <option value="light">Light</option>
                  <option value="dark">Dark</option>
                </select>
              </label>
            </li>
            <li>
              <button class="menu-item" type="button" onClick={() => void signOut(side)}>
                <Icon name="arrow-right" />
                <span>Sign out</span>
              </button>
            </li>
          </ul>
        </div>
      )}
      <button
        class="who"
        type="button"
        aria-expanded={isOpen.value}
        aria-controls="who-menu"
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        <span class="who-face">
          <Icon name={side === 'user' ? 'person' : 'server'} />
        </span>
        <span class="who-text">
          <span class="cut strong">{props.name}</span>
          <span class="cut small faint">{props.detail}</span>
        </span>
        <Icon name="choose" />
      </button>
    </div>
  )
}

function MenuLink({
  href,
  icon,
  label,
}: {
  href: string
  icon: Parameters<typeof Icon>[0]['name']
  label: string
}) {
  return (
    <li>
      <a class="menu-item" href={href}>
        <Icon name={icon} />
        <span>{label}</span>
      </a>
    </li>
  )
}
