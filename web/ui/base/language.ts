/**
 * Some browsers report a language that their own `Intl` refuses (`en-US@posix`, of a system without languages), and the library of the
 * charts reads it as it loads: then it is English. To be imported before anything else.
 */
try {
  void new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
}
