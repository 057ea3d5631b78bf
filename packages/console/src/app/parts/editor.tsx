/** An editor for JSON and JavaScript. Its code is loaded when it is first needed; until then, a text area. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { OpenEditor } from './codemirror.ts'

export type EditorLanguage = 'json' | 'javascript'

export interface EditorProps {
  label: string
  language: EditorLanguage
  /** The text that it opens with. Give it another `key` to replace the text later. */
  value: string
  onInput: (value: string) => void
  /** The line that an error is about, from 1. */
  problemLine?: number | undefined
}

export function Editor(props: EditorProps) {
  const { label, language, value, onInput, problemLine } = props
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<OpenEditor | undefined>(undefined)
  const isLoaded = useSignal(false)
  const latest = useRef({ value, onInput })
  latest.current = { value, onInput }
  useEffect(() => {
    let isGone = false
    const open = async () => {
      const { openEditor } = await import('./codemirror.ts')
      if (isGone || !host.current) return
      view.current = openEditor(host.current, {
        label,
        language,
        value: latest.current.value,
        onInput: (text) => latest.current.onInput(text),
      })
      isLoaded.value = true
    }
    // Without it the text area stays, which works as well.
    void open().catch(() => {})
    return () => {
      isGone = true
      view.current?.close()
      view.current = undefined
    }
  }, [language])
  useEffect(() => view.current?.markLine(problemLine), [problemLine, isLoaded.value])
  return (
    <div class="editor">
      <div ref={host} class="editor-host" hidden={!isLoaded.value} />
      {!isLoaded.value && (
        <textarea
          class="editor-text mono"
          aria-label={label}
          rows={12}
          spellcheck={false}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </div>
  )
}
