/**
 * CodeMirror with the colours of the console. It is in a shadow root, because there its style sheets are
 * adopted as objects; in the document it would add style elements, which the security policy forbids.
 */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { javascript } from '@codemirror/lang-javascript'
import { json } from '@codemirror/lang-json'
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language'
import { EditorState, StateEffect, StateField } from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { EditorProps } from './editor.tsx'

export interface OpenEditor {
  markLine(line: number | undefined): void
  close(): void
}

const colors = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--code-key)' },
  { tag: [tags.string, tags.regexp], color: 'var(--code-text)' },
  { tag: tags.number, color: 'var(--code-number)' },
  { tag: [tags.keyword, tags.bool, tags.null], color: 'var(--code-word)' },
  { tag: tags.comment, color: 'var(--code-note)' },
])

const look = EditorView.theme({
  '&': { backgroundColor: 'var(--raised)', color: 'var(--ink)', fontSize: 'var(--t-xs)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': {
    fontFamily: 'var(--mono)',
    lineHeight: '1.25rem',
    minHeight: '12.5rem',
    maxHeight: '26rem',
  },
  '.cm-content': { caretColor: 'var(--ink)', padding: '0.5rem 0' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'transparent', border: 'none', color: 'var(--faint)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { backgroundColor: 'var(--chosen)' },
  '.cm-wrong': { backgroundColor: 'var(--bad-wash)', boxShadow: 'inset 2px 0 0 var(--bad)' },
})

const setWrongLine = StateEffect.define<number | undefined>()
const wrongLine = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(decorations, transaction) {
    for (const effect of transaction.effects) {
      if (!effect.is(setWrongLine)) continue
      const line = effect.value
      if (line === undefined || line < 1 || line > transaction.state.doc.lines)
        return Decoration.none
      const { from } = transaction.state.doc.line(line)
      return Decoration.set([Decoration.line({ class: 'cm-wrong' }).range(from)])
    }
    return decorations.map(transaction.changes)
  },
  provide: (field) => EditorView.decorations.from(field),
})

/**
 * Typed text becomes a transaction at once. If the browser edited the element first, it would copy the
 * style of replaced text into a style attribute, which the security policy forbids.
 */
const typing = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== 'insertText' || event.data === null || event.isComposing) return false
    const change = view.state.replaceSelection(event.data)
    view.dispatch(change, { userEvent: 'input.type', scrollIntoView: true })
    return true
  },
})

export function openEditor(host: HTMLElement, props: EditorProps): OpenEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  const language = props.language === 'json' ? json() : javascript()
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: props.value,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        // Tab leaves the editor, so that people with a keyboard are not trapped in it.
        keymap.of([...defaultKeymap, ...historyKeymap]),
        language,
        syntaxHighlighting(colors),
        look,
        wrongLine,
        typing,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': props.label }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) props.onInput(update.state.doc.toString())
        }),
      ],
    }),
  })
  // The document sees the host, not the editable element, and would take letters for keys of the page.
  const keepLetters = (event: KeyboardEvent) => {
    if (!event.metaKey && !event.ctrlKey && !event.altKey) event.stopPropagation()
  }
  host.addEventListener('keydown', keepLetters)
  return {
    markLine: (line) => view.dispatch({ effects: setWrongLine.of(line) }),
    close() {
      host.removeEventListener('keydown', keepLetters)
      view.destroy()
    },
  }
}
