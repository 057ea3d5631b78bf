/** The page before its script runs, with a text for browsers without JavaScript. */
import type { SecretOptions } from '../api.ts'
import { type Asset, iconFile, pageScript, styleSheet, workerScript } from './assets.ts'
import { texts } from './languages.ts'
import { MARK } from './mark.ts'

export interface Brand {
  name: string
  /** Instead of Strongroom's mark. Never part of the document: an SVG may contain scripts. */
  logo?: Asset | undefined
}

export interface PageContent extends Brand {
  options: SecretOptions
  /** Who can make requests. */
  requests: 'anyone' | 'api-token' | 'off'
}

/** URLs are relative, so that the page works wherever it is mounted. */
export function SealedDocument({ name, logo, options, requests }: PageContent) {
  const icon = logo ?? iconFile
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" content="#fbfbf9" media="(prefers-color-scheme: light)" />
        <meta name="theme-color" content="#0d1110" media="(prefers-color-scheme: dark)" />
        <meta name="robots" content="noindex" />
        <meta name="referrer" content="no-referrer" />
        <meta name="description" content={texts.en.description} />
        <title>{name}</title>
        <link rel="icon" type={icon.contentType} href={`assets/${icon.name}`} />
        <link rel="stylesheet" href={`assets/${styleSheet.name}`} />
        <script src={`assets/${pageScript.name}`} defer></script>
      </head>
      <body>
        <header class="site-header">
          <a id="home" class="brand" href="./">
            {logo ? (
              <img class="logo" src={`assets/${logo.name}`} alt="" />
            ) : (
              <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
                <path d={MARK} />
              </svg>
            )}
            <span>{name}</span>
          </a>
          <div id="languages"></div>
        </header>
        <main
          id="stage"
          class="stage"
          data-worker={`assets/${workerScript.name}`}
          data-name={name}
          data-options={JSON.stringify(options)}
          data-requests={requests}
        >
          <noscript>
            <div class="words">
              <h1>{name}</h1>
              {Object.entries(texts).map(([tag, { noscript }]) => (
                <p lang={tag}>{noscript}</p>
              ))}
            </div>
          </noscript>
        </main>
        <p id="status" class="unseen" role="status"></p>
      </body>
    </html>
  )
}
