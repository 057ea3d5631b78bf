/**
 * The address is the state: path and query as signals. Typing replaces the current entry of the history,
 * choosing adds one. Links to the console are ordinary links.
 */
import { computed, signal } from '@preact/signals'

export const BASE = '/console'

const href = signal(location.href)

/** The path below `/console`, such as `/events`. */
export const path = computed(() => {
  const { pathname } = new URL(href.value)
  const below = pathname.startsWith(BASE) ? pathname.slice(BASE.length) : pathname
  return below.length > 1 ? below.replace(/\/+$/, '') : '/'
})

export const query = computed(() => new URL(href.value).searchParams)

/** One parameter of the query, as a value that components can depend on. */
export function param(name: string): string | undefined {
  return query.value.get(name) ?? undefined
}

/** Whether the open page has unsaved changes. */
type UnsavedCheck = () => boolean
const checks = new Set<UnsavedCheck>()

/** Asks before the page is left while the check is true. Returns how to stop asking. */
export function guardLeaving(hasUnsaved: UnsavedCheck): () => void {
  checks.add(hasUnsaved)
  return () => checks.delete(hasUnsaved)
}

const hasUnsavedChanges = () => [...checks].some((hasUnsaved) => hasUnsaved())

/** Set while the shell asks whether to leave unsaved changes; calling it leaves. */
export const leaveRequest = signal<(() => void) | undefined>(undefined)

/** `to` is a path of the console, such as `/events?status=failed`. */
export function navigate(to: string, { replace = false, force = false } = {}): void {
  const url = new URL(BASE + to, location.origin)
  if (url.href === href.peek()) return
  const leaves = url.pathname !== new URL(href.peek()).pathname
  if (leaves && !force && hasUnsavedChanges()) {
    leaveRequest.value = () => navigate(to, { replace, force: true })
    return
  }
  if (replace) history.replaceState(null, '', url)
  else history.pushState(null, '', url)
  href.value = url.href
  if (leaves) scrollTo(0, 0)
}

/** Changes parameters of the query; undefined removes one. */
export function setQuery(
  changes: Record<string, string | undefined>,
  { replace = false } = {},
): void {
  const next = new URLSearchParams(query.peek())
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(name)
    else next.set(name, value)
  }
  navigate(withQuery(path.peek(), next), { replace })
}

export function withQuery(to: string, parameters: URLSearchParams): string {
  const text = parameters.toString()
  return text === '' ? to : `${to}?${text}`
}

/** Removes the fragment, in which links carry codes, from the address bar and the history. */
export function takeFragment(): URLSearchParams {
  const fragment = new URLSearchParams(location.hash.slice(1))
  if (location.hash !== '') {
    history.replaceState(null, '', location.pathname + location.search)
    href.value = location.href
  }
  return fragment
}

/** Only addresses of the console, so that a link cannot send people elsewhere after the sign-in. */
export function safeNext(next: string | undefined): string {
  if (next === undefined || !/^\/(?![/\\])/.test(next)) return '/'
  // The server writes whole paths, pages write those below the console.
  const below = next.startsWith(`${BASE}/`) ? next.slice(BASE.length) : next
  const url = new URL(BASE + below, location.origin)
  const isInside = url.origin === location.origin && url.pathname.startsWith(`${BASE}/`)
  return isInside ? url.pathname.slice(BASE.length) + url.search : '/'
}

export function startRouter(): void {
  addEventListener('popstate', () => {
    const to = location.href
    const leaves = new URL(to).pathname !== new URL(href.peek()).pathname
    if (!leaves || !hasUnsavedChanges()) {
      href.value = to
      return
    }
    history.pushState(null, '', href.peek())
    leaveRequest.value = () =>
      navigate(to.slice(location.origin.length + BASE.length), { force: true })
  })
  addEventListener('beforeunload', (event) => {
    if (hasUnsavedChanges()) event.preventDefault()
  })
  addEventListener('click', followLink)
}

function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = (event.target as Element | null)?.closest?.('a')
  if (!link || link.target !== '' || link.hasAttribute('download')) return
  const url = new URL(link.href, location.href)
  if (url.origin !== location.origin || !url.pathname.startsWith(`${BASE}/`)) return
  // A link to an anchor of the same page, such as "Skip to content".
  if (url.hash !== '' && url.pathname === location.pathname) return
  event.preventDefault()
  navigate(url.pathname.slice(BASE.length) + url.search)
}

/** Matches `/connections/:id/:tab?` and returns its parameters. */
export function matchPath(pattern: string, at: string): Record<string, string> | undefined {
  const wanted = pattern.split('/').slice(1)
  const parts = at.split('/').slice(1)
  if (parts.length > wanted.length) return undefined
  const found: Record<string, string> = {}
  for (const [index, name] of wanted.entries()) {
    const part = parts[index]
    if (name.startsWith(':')) {
      if (part === undefined || part === '') {
        if (name.endsWith('?')) continue
        return undefined
      }
      const value = decode(part)
      if (value === undefined) return undefined
      found[name.replace(/^:|\?$/g, '')] = value
    } else if (name !== part) return undefined
  }
  return found
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}
