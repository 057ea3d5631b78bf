import type { PropsWithChildren } from 'hono/jsx'
import { faviconFile, stylesheet } from './assets.ts'
import { Mark } from './mark.tsx'

export interface LayoutProps {
  title: string
  description: string
  /** The first two are entries of the navigation. */
  page: 'home' | 'docs' | 'not-found'
  version: string
  /** The path of a script file; the page works without it. */
  script?: string
}

export function Layout({
  title,
  description,
  page,
  version,
  script,
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
        <link rel="icon" type="image/svg+xml" href={faviconFile.path} />
        <link rel="stylesheet" href={stylesheet.path} />
        {script === undefined ? null : <script src={script} defer></script>}
      </head>
      <body class={`page-${page}`}>
        <a class="skip" href="#content">
          Skip to content
        </a>
        <header class="site-header">
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
