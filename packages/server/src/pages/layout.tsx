import { raw } from 'hono/html'
import type { PropsWithChildren } from 'hono/jsx'
import { faviconFile, stylesheet } from './assets.ts'
import { Mark } from './mark.tsx'

/** A service on a host of its own: nothing else is there, no other page and no file of these. */
export interface OwnHost {
  title: string
  hasPage: boolean
}

export interface LayoutProps {
  title: string
  description: string
  /** The first two are entries of the navigation. */
  page: 'home' | 'docs' | 'not-found'
  version: string
  /** The path of a script file; the page works without it. */
  script?: string
  /** Where the page is shown, if not on the server's own. */
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
        <a href="/docs" aria-current={page === 'docs' ? 'page' : undefined}>
          API reference
        </a>
        <a href="/openapi.json">OpenAPI</a>
      </nav>
    </>
  )
}
