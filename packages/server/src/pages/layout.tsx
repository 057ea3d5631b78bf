import { raw } from 'hono/html'
import type { PropsWithChildren } from 'hono/jsx'
import { faviconFile, stylesheet } from './content.ts'

/** A service with its own host, which serves none of the other pages and files. */
export interface OwnHost {
  title: string
  hasPage: boolean
}

export interface LayoutProps {
  title: string
  description: string
  /** All but the last are entries of the navigation. */
  page: 'home' | 'guides' | 'docs' | 'not-found'
  version: string
  /** The path of a script file; the page works without it. */
  script?: string
  /** The host that shows the page, if it is not the server's. */
  ownHost?: OwnHost | undefined
}

export function Layout({
  title,
  description,
  page,
  version,
  script,
  ownHost,
  children,
}: PropsWithChildren<LayoutProps>) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" content="#fbfbf9" media="(prefers-color-scheme: light)" />
        <meta name="theme-color" content="#0d1110" media="(prefers-color-scheme: dark)" />
        <meta name="robots" content="noindex" />
        <meta name="description" content={description} />
        <title>{title}</title>
        {ownHost ? <style>{raw(stylesheet.body)}</style> : <Files />}
        {script === undefined ? null : <script src={script} defer></script>}
      </head>
      <body class={`page-${page}`}>
        <a class="skip" href="#content">
          Skip to content
        </a>
        <header class="site-header">
          {ownHost ? <span class="brand">{ownHost.title}</span> : <Navigation page={page} />}
        </header>
        {children}
        <footer class="site-footer">
          <p>
            Strongroom {version}
            <span aria-hidden="true"> · </span>
            Apache-2.0
          </p>
        </footer>
      </body>
    </html>
  )
}

function Files() {
  return (
    <>
      <link rel="icon" type="image/svg+xml" href={faviconFile.path} />
      <link rel="stylesheet" href={stylesheet.path} />
    </>
  )
}

function Navigation({ page }: Pick<LayoutProps, 'page'>) {
  return (
    <>
      <a class="brand" href="/" aria-current={page === 'home' ? 'page' : undefined}>
        <Mark />
        <span>Strongroom</span>
      </a>
      <nav class="site-nav" aria-label="Pages">
        <a href="/docs/guides" aria-current={page === 'guides' ? 'page' : undefined}>
          Guides
        </a>
        <a href="/docs" aria-current={page === 'docs' ? 'page' : undefined}>
          API<span class="nav-long"> reference</span>
        </a>
        <a class="nav-console" href="/console/">
          Console
        </a>
      </nav>
    </>
  )
}

/** The mark: a block with two slots, one for a bolt from each side, that together make an S. */
const BLOCK =
  'M8 0h16a8 8 0 0 1 8 8H14a2 2 0 0 0 0 4h10a8 8 0 0 1 8 8v4a8 8 0 0 1-8 8H8a8 8 0 0 1-8-8h18a2 2 0 0 0 0-4H8a8 8 0 0 1-8-8V8a8 8 0 0 1 8-8z'

/** Decoration: the name always stands next to it. */
export function Mark({ class: className = 'mark' }: { class?: string }) {
  return (
    <svg class={className} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <path d={BLOCK} />
    </svg>
  )
}

/** One line drawing for each service; a service without one of its own gets a plain door. */
const GLYPHS: Readonly<Record<string, readonly string[]>> = {
  // An envelope, shut.
  sealed: [
    'M5.5 5.5h13a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2h-13a2 2 0 0 1-2-2v-9a2 2 0 0 1 2-2z',
    'M4 7.5l8 5.5 8-5.5',
  ],
  // A hook that hangs from its eye.
  ferryhook: [
    'M15.5 3a1.75 1.75 0 1 1 0 3.5 1.75 1.75 0 0 1 0-3.5z',
    'M15.5 6.5v9a4.5 4.5 0 0 1-9 0v-3.5l3 2.5',
  ],
  // A deck on an arch.
  'form-bridge': ['M3 8.5h18', 'M5.5 8.5v9', 'M18.5 8.5v9', 'M5.5 17.5a6.5 6.5 0 0 1 13 0'],
  // A key.
  'key-store': ['M8 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8z', 'M12 12h9v3', 'M17 12v2.5'],
  // Two circles: only what lies in both is let in.
  'two-key': ['M9 7a5 5 0 1 1 0 10A5 5 0 0 1 9 7z', 'M15 7a5 5 0 1 1 0 10 5 5 0 0 1 0-10z'],
}

const DOOR = ['M6.5 3.5h11v17h-11z', 'M14.5 11v2']

export function ServiceGlyph({ name }: { name: string }) {
  const paths = Object.hasOwn(GLYPHS, name) ? GLYPHS[name] : DOOR
  return (
    <svg class="glyph" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      {paths?.map((d) => (
        <path d={d} />
      ))}
    </svg>
  )
}
