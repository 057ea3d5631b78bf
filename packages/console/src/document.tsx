/** The one page of the console: its script renders every address below it. */
import { html } from 'hono/html'

const TEXT = 'The console needs JavaScript. Enable it, or use the strongroom command.'

export function consoleDocument(files: {
  script: string
  styles: string
  atRoot: string | undefined
}) {
  return html`<!doctype html>${(
      <html lang="en" data-root-service={files.atRoot}>
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <meta name="theme-color" content="#fbfbf9" media="(prefers-color-scheme: light)" />
          <meta name="theme-color" content="#0d1110" media="(prefers-color-scheme: dark)" />
          <meta name="robots" content="noindex" />
          <title>Strongroom console</title>
          <link rel="icon" type="image/svg+xml" href="/favicon.svg" />
          <link rel="stylesheet" href={files.styles} />
          <script type="module" src={files.script} />
        </head>
        <body>
          <noscript>
            <p>{TEXT}</p>
          </noscript>
        </body>
      </html>
    )}`
}
