//! The Turkish word classes: closed classes and general vocabulary.

use std::sync::LazyLock;

use super::suffix::{possessive_stems, without_plural};
use crate::lexicon::{Classes, Lexicon};

pub(super) const QUESTION: Classes = 1;
/// Conjunctions, postpositions, adverbs: never part of a noun phrase.
pub(super) const FUNCTION: Classes = 1 << 1;
/// A pronoun that depends on nothing said before.
pub(super) const PRONOUN: Classes = 1 << 2;
pub(super) const RELATIONAL: Classes = 1 << 3;
pub(super) const ANIMATE: Classes = 1 << 4;
pub(super) const PLACE: Classes = 1 << 5;
pub(super) const TIME: Classes = 1 << 6;
pub(super) const SMALL_TALK: Classes = 1 << 7;
pub(super) const EMPTY_NOUN: Classes = 1 << 8;
/// A frequent word of predication: var, yok, gerekir, olur.
pub(super) const PREDICATE: Classes = 1 << 9;
pub(super) const ADJECTIVE: Classes = 1 << 10;
pub(super) const PARTICLE: Classes = 1 << 11;
pub(super) const FORM_VERB: Classes = 1 << 12;
pub(super) const ORDER_VERB: Classes = 1 << 13;
/// A noun that an auxiliary verb makes a verb of: iptal (et-), kayıt (ol-).
pub(super) const WITH_AUXILIARY: Classes = 1 << 14;

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut words = Lexicon::default();
    words.add(
        QUESTION,
        "ne neyi neye neyin neler nelerdir nedir neden niye niçin nasıl nasıldır kim kimi kime kimin kimde kimden \
         kimler kimdir hangi hangisi hangileri hangisini hangisinin nerede nereye nereden neresi nerededir nerde kaç \
         kaçta kaça kaçıncı nasil neresinde nedeni",
    );
    words.add(
        FUNCTION,
        "ve veya ya yahut ile ama fakat ancak lakin çünkü eğer ki için gibi kadar göre karşı doğru beri önce sonra dair \
         rağmen hakkında arasında arasındaki üzerinde altında içinde dışında yanında sırasında olarak çok daha en pek \
         biraz az sadece yalnız yalnızca bile hala hâlâ artık hemen şimdi sonra bazen hep hiç asla belki acaba galiba \
         tam tamamen genellikle genelde özellikle ayrıca üstelik yani mesela örneğin peki hem şimdilik zaten sanki bana \
         sana bize size lütfen her bazı bütün tüm tam başka diğer aynı bir birkaç birçok hiçbir diye yine tekrar \
         bugün dün yarın içeri dışarı yukarı aşağı ileri geri evet hayır tamam icin dolayı itibaren ötürü üzere \
         sıklıkla zamanında tarafından yoluyla sayesinde yüzünden değil mi",
    );
    words.add(
        PARTICLE,
        "mi mı mu mü miyim mıyım muyum müyüm misin mısın musun müsün miyiz mıyız muyuz müyüz misiniz \
        mısınız musunuz müsünüz midir mıdır mudur müdür de da",
    );
    words.add(
        PRONOUN,
        "ben sen biz siz beni seni bizi sizi benim senin bizim sizin kendi kendisi herkes kimse hepsi \
        bazıları birisi biri şey şeyi bende sende bizde sizde",
    );
    words.add(
        RELATIONAL,
        "süre fiyat ücret maliyet neden sebep sonuç belirti etki tür çeşit fark avantaj dezavantaj fayda zarar yarar \
         tarih tarihçe anlam tanım özellik kural koşul şart limit sınır adım süreç politika dönem miktar oran sayı \
         seviye seçenek ayrıntı detay nüfus başkent konum adres yazar sahip kurucu kapasite hız boy ağırlık uzunluk \
         renk ad isim telefon numara yaş boyut genişlik derinlik sıcaklık değer tutar bedel ceza puan kalite amaç \
         görev rol işlev yöntem yol tedavi risk tehlike sorun çözüm gereksinim alternatif sürüm model kaynak kısım \
         bölüm parça aşama evre neden örnek liste durum bellek garanti doz nokta derece gerekçe anahat gider harç \
         içerik malzeme teslimat meslek eş çocuk doğum ölüm",
    );
    words.add(
        ANIMATE,
        "adam kadın kişi çocuk kız oğlan oğul anne baba kardeş abla abi eş koca karı amca teyze dayı hala dede nine \
         yeğen arkadaş komşu patron müdür yönetici başkan bakan kral kraliçe doktor hekim hemşire hasta avukat yargıç \
         hakim kiracı ev_sahibi öğretmen öğrenci profesör yazar oyuncu sanatçı ressam besteci şair müşteri kullanıcı \
         çalışan işçi işveren mühendis kurucu lider aşçı köpek kedi at kuş yolcu sürücü pilot tanık sanık davacı \
         davalı takım grup aile üye",
    );
    words.add(
        PLACE,
        "şehir kent kasaba köy ülke bölge ada sokak cadde ofis depo bina ev müze otel havalimanı havaalanı istasyon \
         park lokanta restoran okul üniversite hastane laboratuvar mağaza dükkan fabrika şube kampüs liman plaj dağ \
         göl nehir kale oda klinik merkez ilçe il mahalle site çarşı galeri kütüphane",
    );
    words.add(
        TIME,
        "gün hafta ay yıl saat dakika saniye kış yaz ilkbahar sonbahar bahar sabah akşam gece öğlen pazartesi salı \
         çarşamba perşembe cuma cumartesi pazar ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım \
         aralık yüzyıl kışın yazın sefer zaman an sene dönem gündüz günler",
    );
    words.add(
        SMALL_TALK,
        "teşekkürler teşekkür ederim ederiz çok sağ ol olun sağol sağolun merhaba selam selamlar günaydın iyi günler \
         akşamlar geceler hoşça kal kalın görüşürüz görüşmek üzere tamam tamamdır peki harika süper güzel mükemmel \
         anladım anlıyorum şimdilik bu kadar başka sorum yok evet hayır olur eyvallah rica bravo elinize elinizi \
         sağlık yeterli yardımın yardımınız yardımlarınız için oldu hepsi nasılsın nasılsınız hoş geldin geldiniz ya \
         ok okey yeter aynen kolay gelsin selamün aleyküm aydınlandım size sana bilgi ve işime yaradı oh şey o lütfen",
    );
    words.add(
        EMPTY_NOUN,
        "şey şeyler soru cevap yanıt bilgi konu konuda konuyu örnek ayrıntı detay durum durumda fikir işe \
        zaman yer tek ilk",
    );
    words.add(
        PREDICATE,
        "var yok vardır yoktur gerek gerekir gerekli gerekiyor lazım olur oluyor olacak oldu mümkün \
        değil mümkündür eder etti ediyor edilir edilmiş olmuş olan olarak etmek olmak eden ise midir demek demektir \
        yapılır yapar yaptı yapıyor verir alır gelir gider \
        anlat anlatır anlatın açıkla açıklar söyle söyler göster ver ister et edin",
    );
    words.add(
        ADJECTIVE,
        "iyi kötü büyük küçük yeni eski genç yaşlı uzun kısa yüksek alçak düşük sıcak soğuk kolay zor basit güvenli \
         tehlikeli önemli ana farklı benzer yaygın nadir popüler ünlü ücretsiz ucuz pahalı doğru yanlış gerçek sahte \
         erken geç hızlı yavaş güçlü zayıf sağlıklı derin geniş dar zengin fakir açık kapalı dolu boş genel özel \
         normal doğal yasal zararlı faydalı etkili muhtemel ağır hafif sert yumuşak bulaşıcı zorunlu isteğe aylık \
         yıllık günlük haftalık ilk ikinci üçüncü son sonraki önceki fazla net kesin mevcut uygun gerekli yeterli \
         sağlam tatlı tuzlu acı",
    );
    words.add(
        FORM_VERB,
        "özetle özetler özetleyin kısalt kısaltır çevir çevirir tekrarla tekrarlar sadeleştir \
        basitleştir özet kısaca",
    );
    words.add(
        ORDER_VERB,
        "çalıştır yaz ekle düzelt kaldır sil oluştur aç kapat derle gönder kur güncelle kaydet taşı \
        kopyala başlat durdur iptal ayarla hatırlat yap hazırla çiz",
    );
    words.add(
        WITH_AUXILIARY,
        "iptal kayıt teslim talep kabul ret tercih devam yardım kontrol takip tamir test analiz \
        transfer merak dikkat ifade",
    );
    words
});

/// What the language lets a word be. Nouns are found also in the plural and with a possessive.
pub(super) fn classes(word: &str) -> Classes {
    let found = LEXICON.get(word);
    if found != 0 {
        return found;
    }
    noun_classes(word)
}

const NOUN: Classes = RELATIONAL | ANIMATE | PLACE | TIME;

fn noun_classes(word: &str) -> Classes {
    let plural = without_plural(word);
    if plural != word {
        return LEXICON.get(plural) & NOUN;
    }
    // Looked up as slices: this runs for every word that no table knows.
    let Some(stem) = word.strip_suffix(['ı', 'i', 'u', 'ü']) else { return 0 };
    let mut found = LEXICON.get(stem) | LEXICON.get(without_plural(stem));
    if let Some(stem) = stem.strip_suffix('s') {
        found |= LEXICON.get(stem);
    }
    if found == 0 && stem.ends_with(['ğ', 'b', 'c']) {
        found = possessive_stems(word).fold(0, |found, stem| found | LEXICON.get(&stem));
    }
    found & NOUN
}
