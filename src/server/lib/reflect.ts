/**
 * The polyfill that @simplewebauthn's certificate library needs while it loads. Import this before it: in an executable
 * Bun runs a CommonJS import after the ES modules beside it, so the library's own import comes too late (Bun 1.4.5).
 */
import "reflect-metadata";
