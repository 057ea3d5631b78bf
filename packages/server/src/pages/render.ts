import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

/** A page as it is sent; without the first line, browsers imitate those of the last century. */
export async function renderPage(
  page: HtmlEscapedString | Promise<HtmlEscapedString>,
): Promise<string> {
  const text = await html`<!doctype html>${page}`
  return text.toString()
}
